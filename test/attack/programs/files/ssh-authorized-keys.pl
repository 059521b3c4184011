# Lets itself in by the user's authorized keys.
use strict;
use warnings;
use lib $ENV{PROGRAMS};
use Attack;

my $file = want('SSH_AUTHORIZED_KEYS');
succeeded("wrote $file") if append($file, "# attacked\n");
stopped('nothing arrived');
