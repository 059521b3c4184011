# Takes a mount namespace of its own and another root directory.
use strict;
use warnings;
use lib $ENV{PROGRAMS};
use Attack;

my ($CLONE_NEWNS, $MS_PRIVATE, $MS_REC, $MS_BIND) = (0x20000, 0x40000, 0x4000, 0x1000);
my ($root, $slash, $dot) = (want('WORKSPACE') . '/src', '/', '.');
sys('unshare', $CLONE_NEWNS) == 0 or stopped('taking a mount namespace');
my $none = '';
sys('mount', $none, $slash, 0, $MS_PRIVATE | $MS_REC, 0) == 0 or stopped('making it private');
sys('mount', $root, $root, 0, $MS_BIND, 0) == 0 or stopped('binding the new root');
chdir $root or stopped('going there');
sys('pivot_root', $dot, $dot) == 0 or stopped('changing the root');
succeeded('/ is another directory');
