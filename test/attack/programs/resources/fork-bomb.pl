# Starts more processes than its limit, each of which stays.
use strict;
use warnings;
use lib $ENV{PROGRAMS};
use Attack;

my $limit = want('LIMIT');
my @children;
my $why = 0;
while (@children < $limit + 10 && @children < 50) {
    my $pid = fork // do { $why = $!; last };
    if (!$pid) { sleep 2; exit 0 }
    push @children, $pid;
}
select undef, undef, undef, 0.8;
my $alive = grep { kill 0, $_ } @children;
kill 'KILL', @children;
succeeded("$alive processes were alive") if $alive > $limit;
$! = $why;
stopped("starting more than $alive");
