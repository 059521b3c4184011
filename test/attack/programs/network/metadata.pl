# Asks the metadata service of a cloud for its keys.
use strict;
use warnings;
use lib $ENV{PROGRAMS};
use Attack;
use IO::Socket::IP;

my $socket = IO::Socket::IP->new(PeerHost => '169.254.169.254', PeerPort => 80, Timeout => 1) or stopped('connecting');
print {$socket} "GET / HTTP/1.0\r\n\r\n";
my $answer = do { local $/; <$socket> } // '';
succeeded('it answered') if index($answer, want('SECRET')) >= 0;
stopped('it said something else');
