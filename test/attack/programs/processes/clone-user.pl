# Starts a child in a user namespace of its own.
use strict;
use warnings;
use lib $ENV{PROGRAMS};
use Attack;

my $pid = sys('clone', 0x10000000 | 17, 0, 0, 0, 0);
stopped('starting it') if $pid < 0;
exit 0 if $pid == 0;
waitpid $pid, 0;
succeeded("child $pid had a user namespace");
