# Takes more memory than its limit in pipes that nobody reads from.
use strict;
use warnings;
use lib $ENV{PROGRAMS};
use Attack;
use IO::Handle;

my $limit = want('LIMIT');
stopped('the limit is too large for this') if $limit > 16 * 1024 * 1024;
my ($bytes, $content, @pipes) = (0, 'x' x 4096);
while ($bytes <= 3.5 * $limit) {
    pipe(my $read, my $write) or last;
    push @pipes, $read, $write;
    $write->blocking(0);
    while (my $count = syswrite($write, $content)) { $bytes += $count }
}
my $why = $!;
alarm 7;
select undef, undef, undef, 4.5; # longer than a busy machine needs to see it
succeeded("has $bytes bytes") if $bytes > 3 * $limit;
$! = $why;
stopped("filling more than $bytes bytes");
