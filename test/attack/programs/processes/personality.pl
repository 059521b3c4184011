# Asks for memory that can always be executed.
use strict;
use warnings;
use lib $ENV{PROGRAMS};
use Attack;

sys('personality', 0x0400000) >= 0 or stopped('asking');
succeeded('what can be read can be executed');
