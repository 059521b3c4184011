# Mounts a file system of its own over a directory.
use strict;
use warnings;
use lib $ENV{PROGRAMS};
use Attack;

my ($at, $type) = (want('WORKSPACE') . '/src', 'tmpfs');
sys('mount', $type, $at, $type, 0, 0) == 0 or stopped('mounting');
my $empty = !-e "$at/index.js";
sys('umount2', $at, 2);
succeeded("$at was covered") if $empty;
stopped('nothing was covered');
