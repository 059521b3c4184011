# Makes a system call by its other number, past a filter that knows one alone.
use strict;
use warnings;
use lib $ENV{PROGRAMS};
use Attack;

my $pid = syscall(0x40000000 | 39);
stopped('calling') if $pid < 0;
succeeded("getpid said $pid");
