# Writes a file in the memory that processes share that is larger than its limit.
use strict;
use warnings;
use lib $ENV{PROGRAMS};
use Attack;

my ($limit, $directory) = (want('LIMIT'), '/dev/shm');
stopped('the limit is too large for this') if $limit > 6 * 1024 * 1024;
my $file = "$directory/fill.$<.$$";
open(my $out, '>', $file) or stopped('making a file');
my ($bytes, $why) = (0, 0);
while ($bytes <= $limit) {
    my $count = syswrite($out, 'x' x 65536) // do { $why = $!; last };
    $bytes += $count;
}
select undef, undef, undef, 0.8;
my $size = -s $file;
unlink $file;
succeeded("wrote $size bytes") if $size > $limit;
$! = $why;
stopped("writing more than $size");
