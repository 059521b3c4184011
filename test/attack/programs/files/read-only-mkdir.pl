# Makes a new directory in a read-only directory.
use strict;
use warnings;
use lib $ENV{PROGRAMS};
use Attack;

my $directory = want('WORKSPACE') . '/docs/new';
mkdir($directory) or stopped('making it');
succeeded("made $directory");
