# Moves the workspace itself away and puts its own in the place.
use strict;
use warnings;
use lib $ENV{PROGRAMS};
use Attack;

my $workspace = want('WORKSPACE');
rename($workspace, "$workspace.away") or stopped('renaming the workspace');
mkdir($workspace) && mkdir("$workspace/docs") or stopped('making the workspace again');
append("$workspace/docs/spec.md", "attacked\n");
succeeded("$workspace is mine");
