# Takes more memory than its limit in many processes, each of them small.
use strict;
use warnings;
use lib $ENV{PROGRAMS};
use Attack;

my $children = 8;
my $bytes = want('LIMIT') * 1.5 / $children;
stopped('the limit is too large for this') if $bytes * $children > 64 * 1024 * 1024;
pipe(my $from, my $to);
my @pids;
for (1 .. $children) {
    my $pid = fork // last;
    if (!$pid) {
        my $memory = chr(65 + $_) x $bytes;
        syswrite($to, 'x') if length($memory) == int $bytes;
        sleep 2;
        exit 0;
    }
    push @pids, $pid;
}
close $to;
select undef, undef, undef, 0.9;
my $alive = grep { kill(0, $_) && waitpid($_, 1) == 0 } @pids;
kill 'KILL', @pids;
sysread($from, my $ready, 100);
my $have = length($ready // '') < $alive ? length($ready // '') : $alive;
succeeded("$have processes had " . $have * $bytes . ' bytes') if $have * $bytes > want('LIMIT');
$! = Errno::ENOMEM();
stopped("with $have processes");
