# Takes hold of the ports of the machine.
use strict;
use warnings;
use lib $ENV{PROGRAMS};
use Attack;

sys('iopl', 3) == 0 or stopped('taking them');
succeeded('the ports are open');
