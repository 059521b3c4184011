# Loads a map into the kernel.
use strict;
use warnings;
use lib $ENV{PROGRAMS};
use Attack;

my $attributes = pack('L5', 2, 4, 8, 1, 0) . "\0" x 100;
my $handle = sys('bpf', 0, $attributes, length $attributes);
stopped('making it') if $handle < 0;
succeeded('a map is in the kernel');
