# Takes more memory than its limit in unix sockets that nobody reads from, made as large as they can be.
use strict;
use warnings;
use lib $ENV{PROGRAMS};
use Attack;
use IO::Handle;
use Socket;

my $limit = want('LIMIT');
stopped('the limit is too large for this') if $limit > 32 * 1024 * 1024;
my ($bytes, $content, @sockets) = (0, 'x' x 65536);
while ($bytes <= 3.5 * $limit) {
    socketpair(my $one, my $other, AF_UNIX, SOCK_STREAM, PF_UNSPEC) or last;
    push @sockets, $one, $other;
    for my $socket ($one, $other) {
        $socket->blocking(0);
        setsockopt($socket, SOL_SOCKET, SO_SNDBUF, 1 << 22);
        while (my $count = syswrite($socket, $content)) { $bytes += $count }
    }
}
my $why = $!;
alarm 7;
select undef, undef, undef, 4.5; # longer than a busy machine needs to see it
succeeded("has $bytes bytes") if $bytes > 3 * $limit;
$! = $why;
stopped("filling more than $bytes bytes");
