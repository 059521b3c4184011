# Connects to the socket of another attempt, behind which the engine would take it for that one.
use strict;
use warnings;
use lib $ENV{PROGRAMS};
use Attack;
use Socket;

my $why = 0;
for my $path (want('OTHER_SOCKET'), '/run/bosun/../other/agent.sock', '/run/other/agent.sock') {
    socket(my $socket, AF_UNIX, SOCK_STREAM, 0) or stopped('making a socket');
    connect($socket, pack_sockaddr_un($path)) or do { $why = $!; next };
    succeeded("it answered at $path") if index(do { local $/; <$socket> } // '', want('SECRET')) >= 0;
}
$! = $why;
stopped('connecting');
