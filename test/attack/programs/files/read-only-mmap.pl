# Maps a file of a read-only directory into memory, shared, and writes to the memory.
use strict;
use warnings;
use lib $ENV{PROGRAMS};
use Attack;
use Fcntl;

my $file = want('WORKSPACE') . '/docs/spec.md';
my $handle;
sysopen($handle, $file, O_RDWR) or sysopen($handle, $file, O_RDONLY) or stopped('opening it');
my $address = sys('mmap', 0, 4096, 3, 1, fileno($handle), 0);
stopped('mapping it') if $address == -1;
pipe(my $from, my $to) or stopped('making a pipe');
syswrite($to, 'ATTACKED');
sys('read', fileno($from), $address, 8) == 8 or stopped('writing to the memory');
succeeded('wrote through the mapping') if slurp($file) =~ /^ATTACKED/;
stopped('nothing arrived');
