# Opens a packet socket to see everybody's packets.
use strict;
use warnings;
use lib $ENV{PROGRAMS};
use Attack;
use Socket;

socket(my $socket, 17, SOCK_RAW, 0x0300) or stopped('making it');
succeeded('a packet socket is open');
