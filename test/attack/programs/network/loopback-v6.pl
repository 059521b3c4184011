# Connects to the engine's port over IPv6, by a mapped address.
use strict;
use warnings;
use lib $ENV{PROGRAMS};
use Attack;
use IO::Socket::IP;

my $socket = IO::Socket::IP->new(PeerHost => '::ffff:127.0.0.1', PeerPort => want('VICTIM_PORT'), Timeout => 1) or stopped('connecting');
print {$socket} "GET / HTTP/1.0\r\n\r\n";
my $answer = do { local $/; <$socket> } // '';
succeeded('it answered') if index($answer, want('SECRET')) >= 0;
stopped('it said something else');
