# Writes more than its limit to a file that has no name and is not open, only mapped.
use strict;
use warnings;
use lib $ENV{PROGRAMS};
use Attack;

my ($limit, $directory) = (want('LIMIT'), want('WORKSPACE') . '/src');
stopped('the limit is too large for this') if $limit > 6 * 1024 * 1024;
my $file = "$directory/fill.$<.$$";
open(my $out, '+>', $file) or stopped('making a file');
my $bytes = 0;
while ($bytes <= $limit) { $bytes += syswrite($out, 'x' x 65536) // last }
my $at = sys('mmap', 0, $bytes, 1, 1, fileno($out), 0);
stopped('mapping it') if $at == -1;
unlink $file;
close $out;
select undef, undef, undef, 1.6;
succeeded("wrote $bytes bytes") if $bytes > $limit;
$! = Errno::ENOSPC();
stopped("writing more than $bytes");
