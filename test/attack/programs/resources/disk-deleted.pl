# Writes more than its limit to a file that has no name any more.
use strict;
use warnings;
use lib $ENV{PROGRAMS};
use Attack;

my ($limit, $directory) = (want('LIMIT'), want('WORKSPACE') . '/src');
stopped('the limit is too large for this') if $limit > 6 * 1024 * 1024;
my $file = "$directory/fill.$<.$$";
open(my $out, '>', $file) or stopped('making a file');
unlink $file;
my ($bytes, $why) = (0, 0);
while ($bytes <= $limit) {
    my $count = syswrite($out, 'x' x 65536) // do { $why = $!; last };
    $bytes += $count;
}
select undef, undef, undef, 1.6;    # whose processes hold what is looked at less often
succeeded("wrote $bytes bytes") if $bytes > $limit;
$! = $why;
stopped("writing more than $bytes");
