# Adds a line to the user's git configuration.
use strict;
use warnings;
use lib $ENV{PROGRAMS};
use Attack;

my $file = want('USER_GIT_CONFIG');
succeeded("wrote $file") if append($file, "# attacked\n");
stopped('nothing arrived');
