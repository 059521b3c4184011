# Adds a line to the file that the user's shell starts with.
use strict;
use warnings;
use lib $ENV{PROGRAMS};
use Attack;

my $file = want('HOME_FILE');
succeeded("wrote $file") if append($file, "# attacked\n");
stopped('nothing arrived');
