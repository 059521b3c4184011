# Makes a new file in a read-only directory.
use strict;
use warnings;
use lib $ENV{PROGRAMS};
use Attack;

my $file = want('WORKSPACE') . '/docs/new.md';
succeeded("made $file") if append($file, "attacked\n");
stopped('writing');
