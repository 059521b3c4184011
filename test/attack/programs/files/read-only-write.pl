# Appends to a file of a read-only directory.
use strict;
use warnings;
use lib $ENV{PROGRAMS};
use Attack;

my $file = want('WORKSPACE') . '/docs/spec.md';
succeeded("wrote $file") if append($file, "attacked\n");
stopped('writing');
