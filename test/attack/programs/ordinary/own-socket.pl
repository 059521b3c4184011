# Reaches the engine by the socket that is its own.
use strict;
use warnings;
use lib $ENV{PROGRAMS};
use Attack;
use Socket;

socket(my $socket, AF_UNIX, SOCK_STREAM, 0) or stopped('making a socket');
connect($socket, pack_sockaddr_un('/run/bosun/agent.sock')) or stopped('connecting');
succeeded('it answered') if (<$socket> // '') =~ /mine/;
stopped('it said something else');
