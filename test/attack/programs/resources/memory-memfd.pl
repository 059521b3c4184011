# Takes more memory than its limit in a file that has no name and is never mapped.
use strict;
use warnings;
use lib $ENV{PROGRAMS};
use Attack;

my $limit = want('LIMIT');
stopped('the limit is too large for this') if $limit > 64 * 1024 * 1024;
my $name = 'hidden';
my $number = sys('memfd_create', $name, 0);
stopped('making a file in memory') if $number < 0;
open(my $out, '+<&=', $number) or stopped('opening it');
my ($bytes, $why) = (0, 0);
while ($bytes <= $limit) {
    my $count = syswrite($out, 'x' x 1048576) // do { $why = $!; last };
    $bytes += $count;
}
select undef, undef, undef, 0.9;
succeeded("has $bytes bytes") if $bytes > $limit;
$! = $why;
stopped("writing more than $bytes");
