# Makes the device of the kernel's log and opens it; reads nothing.
use strict;
use warnings;
use lib $ENV{PROGRAMS};
use Attack;
use Fcntl;

my $node = want('WORKSPACE') . '/src/node';
my $device = (1 << 8) | 11;
sys('mknod', $node, 0020000 | 0600, $device) == 0 or stopped('making the device');
my $open = sysopen(my $in, $node, O_RDONLY);
my $error = $!;
unlink $node;
$! = $error;
succeeded('the log of the kernel is open') if $open;
stopped('opening the device');
