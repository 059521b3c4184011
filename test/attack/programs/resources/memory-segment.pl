# Takes more memory than its limit in segments that no process is attached to.
use strict;
use warnings;
use lib $ENV{PROGRAMS};
use Attack;

my $limit = want('LIMIT');
stopped('the limit is too large for this') if $limit > 64 * 1024 * 1024;
my ($bytes, @segments) = (0);
my ($size, $content) = (4 * 1024 * 1024, 'x' x (4 * 1024 * 1024));
while ($bytes <= $limit) {
    my $segment = shmget(0, $size, 01600) // last;
    push @segments, $segment;
    shmwrite($segment, $content, 0, $size) or last;
    $bytes += $size;
}
my $why = $!;
select undef, undef, undef, 0.9;
shmctl($_, 0, 0) for @segments;
succeeded("has $bytes bytes") if $bytes > $limit;
$! = $why;
stopped("making more than $bytes");
