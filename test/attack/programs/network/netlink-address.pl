# Gives an interface another address.
use strict;
use warnings;
use lib $ENV{PROGRAMS};
use Attack;
use Socket;

my ($RTM_NEWADDR, $REQUEST_ACK_CREATE) = (20, 0x405);
socket(my $socket, 16, SOCK_RAW, 0) or stopped('making a netlink socket');
my $address = pack('SSa4', 8, 2, inet_aton('192.0.2.77')) . pack('SSa4', 8, 1, inet_aton('192.0.2.77'));
my $body = pack('CCCCL', AF_INET, 32, 0, 0, 1) . $address;
my $message = pack('LSSLL', 16 + length $body, $RTM_NEWADDR, $REQUEST_ACK_CREATE, 1, 0) . $body;
send($socket, $message, 0, pack('SSLL', 16, 0, 0, 0)) // stopped('sending');
recv($socket, my $answer, 4096, 0) // stopped('receiving');
my $error = unpack('x16 l', $answer);
$! = -$error;
stopped('setting the address') if $error != 0 && $error != -17;
succeeded('lo has another address');
