# Makes a hard link to a read-only file in its own directory and writes through that.
use strict;
use warnings;
use lib $ENV{PROGRAMS};
use Attack;

my $workspace = want('WORKSPACE');
link("$workspace/docs/spec.md", "$workspace/src/hard.md") or stopped('linking');
append("$workspace/src/hard.md", "attacked\n");
unlink "$workspace/src/hard.md";
succeeded('docs/spec.md was written') if slurp("$workspace/docs/spec.md") =~ /attacked/;
stopped('nothing arrived');
