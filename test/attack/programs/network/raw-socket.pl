# Opens a raw socket to make packets of its own.
use strict;
use warnings;
use lib $ENV{PROGRAMS};
use Attack;
use Socket;

socket(my $socket, AF_INET, SOCK_RAW, 1) or stopped('making it');
succeeded('a raw socket is open');
