# Changes the package.json of its workspace, which is not in its scope.
use strict;
use warnings;
use lib $ENV{PROGRAMS};
use Attack;

my $file = want('WORKSPACE') . '/package.json';
succeeded("wrote $file") if append($file, "\n");
stopped('nothing arrived');
