# Changes the package.json of the base that the next task gets.
use strict;
use warnings;
use lib $ENV{PROGRAMS};
use Attack;

my $file = want('BASE_FILE');
succeeded("wrote $file") if append($file, "# attacked\n");
stopped('nothing arrived');
