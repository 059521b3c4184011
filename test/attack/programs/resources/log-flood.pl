# Writes more output than is kept of it.
use strict;
use warnings;
use lib $ENV{PROGRAMS};
use Attack;

my $line = 'x' x 1023 . "\n";
print $line x 64 for 1 .. want('LIMIT') / 65536 * 4;
