# Takes a copy of the mount of a read-only directory and attaches it elsewhere.
use strict;
use warnings;
use lib $ENV{PROGRAMS};
use Attack;

my ($OPEN_TREE_CLONE, $MOVE_MOUNT_F_EMPTY_PATH) = (1, 4);
my ($from, $at, $none) = (want('WORKSPACE') . '/docs', "$ENV{WORKSPACE}/src/locked", '');
my $tree = sys('open_tree', AT_FDCWD, $from, $OPEN_TREE_CLONE);
stopped('taking the tree') if $tree < 0;
sys('move_mount', $tree, $none, AT_FDCWD, $at, $MOVE_MOUNT_F_EMPTY_PATH) == 0 or stopped('attaching it');
my $there = -e "$at/spec.md";
sys('umount2', $at, 2);
succeeded("$from is at $at") if $there;
stopped('nothing was attached');
