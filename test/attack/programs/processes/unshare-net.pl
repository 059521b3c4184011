# Takes a network namespace of its own.
use strict;
use warnings;
use lib $ENV{PROGRAMS};
use Attack;

sys('unshare', 0x40000000) == 0 or stopped('taking it');
succeeded('it is in a network namespace of its own');
