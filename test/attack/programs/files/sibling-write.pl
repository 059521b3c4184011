# Writes to a file of another attempt's workspace.
use strict;
use warnings;
use lib $ENV{PROGRAMS};
use Attack;

my $file = want('SIBLING_FILE');
succeeded("wrote $file") if append($file, "# attacked\n");
stopped('nothing arrived');
