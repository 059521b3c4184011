# Leaves a setuid program behind and becomes its owner by it.
use strict;
use warnings;
use lib $ENV{PROGRAMS};
use Attack;
use POSIX ();

my $file = want('WORKSPACE') . '/src/strong';
system('cp', '/usr/bin/id', $file) == 0 or stopped('copying a program');
chmod(04755, $file) or stopped('setting the bit');
my $owner = (stat $file)[4];
my $pid = open(my $from, '-|') // stopped('forking');
if (!$pid) {
    # Whoever is somebody else from here on must get the owner's identity back by the file alone.
    POSIX::setgid(65533);
    POSIX::setuid(65533) or exit 3;
    exec $file, '-u' or exit 4;
}
my $answer = <$from> // '';
close $from;
unlink $file;
succeeded("became $owner by a file") if $answer =~ /^$owner$/ && $? == 0;
$! = Errno::EPERM();
stopped('becoming its owner');
