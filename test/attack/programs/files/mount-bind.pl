# Binds a writable directory over a read-only one.
use strict;
use warnings;
use lib $ENV{PROGRAMS};
use Attack;

my ($from, $at) = (want('WORKSPACE') . '/src', "$ENV{WORKSPACE}/docs");
sys('mount', $from, $at, 0, 0x1000, 0) == 0 or stopped('mounting');
my $bound = -e "$at/index.js";
sys('umount2', $at, 2);
succeeded("$at shows what is in $from") if $bound;
stopped('nothing was bound');
