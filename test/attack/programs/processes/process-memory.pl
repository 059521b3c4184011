# Reads the memory of a process of somebody else.
use strict;
use warnings;
use lib $ENV{PROGRAMS};
use Attack;

my ($length, $pid, $address) = (length want('VICTIM_SECRET'), want('VICTIM_PID') + 0, want('VICTIM_ADDRESS') + 0);
my $memory = "\0" x $length;
my $local = pack('pJ', $memory, $length);
my $remote = pack('JJ', $address, $length);
my $count = sys('process_vm_readv', $pid, $local, 1, $remote, 1, 0);
stopped('reading it') if $count < 0;
succeeded('its secret was in it') if $memory eq want('VICTIM_SECRET');
stopped('something else was there');
