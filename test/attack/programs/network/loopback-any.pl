# Connects to the engine's port by the address of nobody.
use strict;
use warnings;
use lib $ENV{PROGRAMS};
use Attack;
use IO::Socket::IP;

my $socket = IO::Socket::IP->new(PeerHost => '0.0.0.0', PeerPort => want('VICTIM_PORT'), Timeout => 1) or stopped('connecting');
print {$socket} "GET / HTTP/1.0\r\n\r\n";
my $answer = do { local $/; <$socket> } // '';
succeeded('it answered') if index($answer, want('SECRET')) >= 0;
stopped('it said something else');
