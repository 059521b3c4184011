# Writes to the engine's database.
use strict;
use warnings;
use lib $ENV{PROGRAMS};
use Attack;

my $file = want('ENGINE_DB');
succeeded("wrote $file") if append($file, "# attacked\n");
stopped('nothing arrived');
