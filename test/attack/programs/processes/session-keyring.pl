# Joins a session of keys of its own in the kernel.
use strict;
use warnings;
use lib $ENV{PROGRAMS};
use Attack;

my $name = 'attack';
my $ring = sys('keyctl', 1, $name);
stopped('joining it') if $ring < 0;
succeeded("it is in session $ring");
