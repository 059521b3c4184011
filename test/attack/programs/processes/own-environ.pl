# Looks in its own environment for a key of the engine.
use strict;
use warnings;
use lib $ENV{PROGRAMS};
use Attack;

my ($name) = grep { $_ eq 'ENGINE_KEY' } keys %ENV;
succeeded("$name came along") if defined $name;
stopped('there is none');
