# Takes a mount namespace of its own.
use strict;
use warnings;
use lib $ENV{PROGRAMS};
use Attack;

sys('unshare', 0x20000) == 0 or stopped('taking it');
succeeded('it is in a mount namespace of its own');
