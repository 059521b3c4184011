# Takes more disk than its limit in a single call, before anybody can look.
use strict;
use warnings;
use lib $ENV{PROGRAMS};
use Attack;

my ($limit, $directory) = (want('LIMIT'), want('WORKSPACE') . '/src');
stopped('the limit is too large for this') if $limit > 6 * 1024 * 1024;
my $file = "$directory/fill.$<.$$";
open(my $out, '+>', $file) or stopped('making a file');
my $ended = sys('fallocate', fileno($out), 0, 0, 2 * $limit);
my $why = $!;
my $bytes = (stat $out)[12] * 512;
unlink $file;
succeeded("took $bytes bytes") if $ended == 0 && $bytes > $limit;
$! = $why;
stopped('taking them ahead');
