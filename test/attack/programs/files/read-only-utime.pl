# Changes the times of a file of a read-only directory.
use strict;
use warnings;
use lib $ENV{PROGRAMS};
use Attack;

my $file = want('WORKSPACE') . '/docs/spec.md';
utime(1, 1, $file) or stopped('setting them');
succeeded("$file is from 1970") if (stat $file)[9] == 1;
stopped('they are as they were');
