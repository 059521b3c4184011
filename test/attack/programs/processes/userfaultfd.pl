# Takes over the page faults of its memory, which makes races in the kernel easy.
use strict;
use warnings;
use lib $ENV{PROGRAMS};
use Attack;

my $handle = sys('userfaultfd', 1);
stopped('taking them') if $handle < 0;
succeeded('page faults are handled here');
