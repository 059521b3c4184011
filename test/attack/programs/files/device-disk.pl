# Makes the device of the disk that the machine's programs are on and opens it; reads nothing.
use strict;
use warnings;
use lib $ENV{PROGRAMS};
use Attack;
use Fcntl;

my $node = want('WORKSPACE') . '/src/node';
my $device = (stat '/usr')[0];
sys('mknod', $node, 0060000 | 0600, $device) == 0 or stopped('making the device');
my $open = sysopen(my $in, $node, O_RDONLY);
my $error = $!;
unlink $node;
$! = $error;
succeeded('the disk is open') if $open;
stopped('opening the device');
