# Truncates a file of a read-only directory by its path.
use strict;
use warnings;
use lib $ENV{PROGRAMS};
use Attack;

my $file = want('WORKSPACE') . '/docs/spec.md';
truncate($file, 0) or stopped('truncating it');
succeeded("emptied $file") if -z $file;
stopped('it has its length');
