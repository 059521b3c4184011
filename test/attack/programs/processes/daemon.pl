# Leaves a process behind that has a session and a parent of its own and minds no signal.
use strict;
use warnings;
use lib $ENV{PROGRAMS};
use Attack;
use POSIX ();

defined(my $pid = fork) or stopped('forking');
if (!$pid) {
    POSIX::setsid();
    exit 0 if fork;
    $SIG{$_} = 'IGNORE' for qw(HUP TERM INT QUIT);
    open STDIN, '<', '/dev/null';
    open STDOUT, '>', '/dev/null';
    open STDERR, '>', '/dev/null';
    close $_ for 3 .. 20;
    alarm 0;
    exec 'sleep', want('DAEMON_MARK');
}
waitpid $pid, 0;
print "planted: a daemon\n";
