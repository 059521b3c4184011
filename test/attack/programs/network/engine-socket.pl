# Connects to the engine's own unix socket.
use strict;
use warnings;
use lib $ENV{PROGRAMS};
use Attack;
use Socket;

socket(my $socket, AF_UNIX, SOCK_STREAM, 0) or stopped('making a socket');
connect($socket, pack_sockaddr_un(want('ENGINE_SOCKET'))) or stopped('connecting');
succeeded('it answered') if index(do { local $/; <$socket> } // '', want('SECRET')) >= 0;
stopped('it said something else');
