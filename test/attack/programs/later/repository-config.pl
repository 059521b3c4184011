# Adds a line to the configuration of the user's repository.
use strict;
use warnings;
use lib $ENV{PROGRAMS};
use Attack;

my $file = want('USER_REPO_CONFIG');
succeeded("wrote $file") if append($file, "# attacked\n");
stopped('nothing arrived');
