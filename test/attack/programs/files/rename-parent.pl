# Moves the parent of a read-only directory away and puts its own in the place.
use strict;
use warnings;
use lib $ENV{PROGRAMS};
use Attack;

my $parent = want('WORKSPACE') . '/src/locked';
rename($parent, "$parent.away") or stopped('renaming the parent');
mkdir($parent) && mkdir("$parent/deep") or stopped('making the parent again');
append("$parent/deep/kept.txt", "attacked\n");
succeeded("$parent/deep/kept.txt is mine") if slurp("$parent/deep/kept.txt") eq "attacked\n";
stopped('reading it back');
