# Ends whoever started it.
use strict;
use warnings;
use lib $ENV{PROGRAMS};
use Attack;

my $parent = getppid();
my (undef, $script) = split /\0/, slurp("/proc/$parent/cmdline") // '';
stopped('the parent is not the engine') if index($script // '', want('ENGINE_NAME')) < 0;
kill(0, $parent) == 1 or stopped('signalling the engine');
succeeded("could signal the engine, $parent");
