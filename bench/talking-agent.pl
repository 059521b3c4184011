# An agent of bench/crew.ts: asks the engine over its own socket, as `bosun agent` does, without a program to start each time.
# write READER COUNT EVERY-S WAIT-S: sends the moment of each message, one at a time. read COUNT: prints how old each was.
# publish NAME WAIT-S: publishes a changed file, and prints the moment before it. now: prints the moment. spawn COUNT: has so many children.
use strict;
use warnings;
use IO::Socket::UNIX;
use Time::HiRes qw(clock_gettime sleep CLOCK_MONOTONIC);

sub call {
  my ($method, $params) = @_;
  my $socket = IO::Socket::UNIX->new(Peer => $ENV{BOSUN_SOCKET} // '/run/bosun/agent.sock') or die "no socket: $!";
  print $socket qq({"jsonrpc":"2.0","id":1,"method":"$method","params":$params}\n);
  $socket->flush;
  my $answer = <$socket> // die "no answer to $method";
  die $answer if $answer =~ /"error":\{/;
  return $answer;
}

my ($role, @rest) = @ARGV;
if ($role eq 'write') {
  my ($reader, $count, $every, $wait) = @rest;
  sleep $wait;
  for (1 .. $count) {
    call('send', sprintf '{"to":"%s","message":"at %.6f"}', $reader, clock_gettime(CLOCK_MONOTONIC));
    sleep $every;
  }
} elsif ($role eq 'publish') {
  my ($name, $wait) = @rest;
  sleep $wait;
  open my $file, '>', "$name.txt" or die $!;
  print $file "$name\n";
  close $file;
  printf "%.6f\n", clock_gettime(CLOCK_MONOTONIC);
  call('publish', qq({"name":"$name","value":"$name.txt"}));
  sleep 5; # its end is no part of what is measured
} elsif ($role eq 'now') {
  printf "%.6f\n", clock_gettime(CLOCK_MONOTONIC);
} elsif ($role eq 'spawn') {
  my ($count) = @rest;
  for (1 .. $count) {
    sleep 0.01 until eval { call('spawn', '{"prompt":"x","agent":"hand"}') };
  }
} else {
  my ($count) = @rest;
  my @ages;
  while (@ages < $count) {
    my $answer = call('inbox', '{"wait":600}');
    my $now = clock_gettime(CLOCK_MONOTONIC);
    push @ages, sprintf '%.3f', ($now - $1) * 1000 while $answer =~ /"at ([\d.]+)"/g;
  }
  call('inbox', '{"acknowledge":true}');
  print "@ages\n";
}
