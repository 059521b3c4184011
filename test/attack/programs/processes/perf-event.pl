# Opens a counter of the kernel.
use strict;
use warnings;
use lib $ENV{PROGRAMS};
use Attack;

my ($SOFTWARE, $TASK_CLOCK, $EXCLUDE_KERNEL_AND_HYPERVISOR) = (1, 1, (1 << 5) | (1 << 6));
my $attributes = pack('LLQQQQQ', $SOFTWARE, 112, $TASK_CLOCK, 0, 0, 0, $EXCLUDE_KERNEL_AND_HYPERVISOR) . "\0" x 64;
my $handle = sys('perf_event_open', $attributes, 0, -1, -1, 0);
stopped('opening it') if $handle < 0;
succeeded('a counter is open');
