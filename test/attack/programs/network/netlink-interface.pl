# Makes a network interface of its own.
use strict;
use warnings;
use lib $ENV{PROGRAMS};
use Attack;
use Socket;

my ($RTM_NEWLINK, $REQUEST_ACK_CREATE) = (16, 0x605);
socket(my $socket, 16, SOCK_RAW, 0) or stopped('making a netlink socket');
my $kind = pack('SSa8', 4 + 5, 1, 'dummy');
my $name = pack('SSa8', 4 + 8, 3, 'attack0');
my $body = pack('CCSlLL', 0, 0, 0, 0, 0, 0) . $name . pack('SS', 4 + length $kind, 18) . $kind;
my $message = pack('LSSLL', 16 + length $body, $RTM_NEWLINK, $REQUEST_ACK_CREATE, 1, 0) . $body;
send($socket, $message, 0, pack('SSLL', 16, 0, 0, 0)) // stopped('sending');
recv($socket, my $answer, 4096, 0) // stopped('receiving');
my $error = unpack('x16 l', $answer);
$! = -$error;
stopped('making it') if $error != 0 && $error != -17;
succeeded('attack0 is there');
