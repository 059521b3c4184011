# Reads the user's SSH key.
use strict;
use warnings;
use lib $ENV{PROGRAMS};
use Attack;

my $text = slurp(want('SSH_KEY')) // stopped('reading it');
succeeded("read $ENV{SSH_KEY}") if index($text, want('SECRET')) >= 0;
stopped('something else was there');
