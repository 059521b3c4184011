# Leaves a set-uid file behind for other users of the machine.
use strict;
use warnings;
use lib $ENV{PROGRAMS};
use Attack;
use Fcntl;

my $file = want('WORKSPACE') . '/src/strong';
system('cp', '/usr/bin/id', $file) == 0 or stopped('copying a program');
my $ended = chmod(04755, $file);
my $why = $!;
my $mode = (stat $file)[2];
unlink $file;
succeeded('the bit is set') if $ended && $mode & 04000;
if (sysopen(my $made, $file, O_CREAT | O_WRONLY, 04755)) {
    $mode = (stat $file)[2];
    unlink $file;
    succeeded('the bit is set') if $mode & 04000;
}
$! = $why;
stopped('setting the bit');
