# Puts a socket of its own in the place of the one that the engine listens on.
use strict;
use warnings;
use lib $ENV{PROGRAMS};
use Attack;
use Socket;

my ($path) = grep { -S } '/run/bosun/agent.sock', want('OWN_SOCKET');
stopped('finding the socket') if !defined $path;
rename($path, "$path.away") or stopped('renaming it');
socket(my $socket, AF_UNIX, SOCK_STREAM, 0) or stopped('making a socket');
my $bound = bind($socket, pack_sockaddr_un($path));
rename("$path.away", $path);
succeeded("$path was replaced") if $bound;
stopped('binding it');
