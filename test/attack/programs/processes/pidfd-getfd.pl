# Takes an open file out of a process of somebody else.
use strict;
use warnings;
use lib $ENV{PROGRAMS};
use Attack;

my $process = sys('pidfd_open', want('VICTIM_PID') + 0, 0);
stopped('opening the process') if $process < 0;
my $file = sys('pidfd_getfd', $process, want('VICTIM_DESCRIPTOR') + 0, 0);
stopped('taking the file') if $file < 0;
succeeded('took a file');
