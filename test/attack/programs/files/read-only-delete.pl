# Deletes a file of a read-only directory.
use strict;
use warnings;
use lib $ENV{PROGRAMS};
use Attack;

my $file = want('WORKSPACE') . '/docs/spec.md';
unlink($file) or stopped('deleting it');
succeeded("deleted $file");
