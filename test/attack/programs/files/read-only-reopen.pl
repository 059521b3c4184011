# Opens a read-only file for reading and opens its descriptor again for writing.
use strict;
use warnings;
use lib $ENV{PROGRAMS};
use Attack;

my $file = want('WORKSPACE') . '/docs/spec.md';
open(my $in, '<', $file) or stopped('opening it for reading');
open(my $out, '>>', '/proc/self/fd/' . fileno($in)) or stopped('opening it again for writing');
syswrite($out, "attacked\n") // stopped('writing');
succeeded('wrote through the descriptor') if slurp($file) =~ /attacked/;
stopped('nothing arrived');
