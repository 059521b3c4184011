# Renames a file of a read-only directory into its own directory.
use strict;
use warnings;
use lib $ENV{PROGRAMS};
use Attack;

my $workspace = want('WORKSPACE');
rename("$workspace/docs/spec.md", "$workspace/src/stolen.md") or stopped('renaming it');
succeeded('docs/spec.md is gone') if !-e "$workspace/docs/spec.md";
stopped('it is still there');
