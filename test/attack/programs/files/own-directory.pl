# Replaces the directory with its own files, which the engine reads afterwards, by a link to a secret.
use strict;
use warnings;
use lib $ENV{PROGRAMS};
use Attack;

my $own = want('OWN_FILES');
rename($own, "$own.away") or stopped('renaming it');
symlink(want('WORLD') . '/secret', $own) or stopped('linking it');
succeeded("$own leads elsewhere") if -l $own;
stopped('it is what it was');
