# Takes hold of a process of somebody else as a debugger does.
use strict;
use warnings;
use lib $ENV{PROGRAMS};
use Attack;

my ($PTRACE_SEIZE, $pid) = (0x4206, want('VICTIM_PID'));
sys('ptrace', $PTRACE_SEIZE, $pid + 0, 0, 0) == 0 or stopped('taking hold');
succeeded("held $pid");
