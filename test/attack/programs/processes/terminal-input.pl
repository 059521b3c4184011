# Types into the terminal that the engine was started from.
use strict;
use warnings;
use lib $ENV{PROGRAMS};
use Attack;

open(my $terminal, '+<', '/dev/tty') or stopped('opening the terminal');
my $letter = "\n";
ioctl($terminal, 0x5412, $letter) or stopped('typing');
succeeded('typed a line');
