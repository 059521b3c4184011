# Reads a file of another attempt's workspace.
use strict;
use warnings;
use lib $ENV{PROGRAMS};
use Attack;

my $text = slurp(want('SIBLING_FILE')) // stopped('reading it');
succeeded("read $ENV{SIBLING_FILE}") if index($text, want('SECRET')) >= 0;
stopped('something else was there');
