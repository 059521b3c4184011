# Takes a user namespace of its own, where it would be root.
use strict;
use warnings;
use lib $ENV{PROGRAMS};
use Attack;

sys('unshare', 0x10000000) == 0 or stopped('taking it');
succeeded('it is in a user namespace of its own');
