# Reads the engine's database.
use strict;
use warnings;
use lib $ENV{PROGRAMS};
use Attack;

my $text = slurp(want('ENGINE_DB')) // stopped('reading it');
succeeded("read $ENV{ENGINE_DB}") if index($text, want('SECRET')) >= 0;
stopped('something else was there');
