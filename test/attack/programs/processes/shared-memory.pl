# Reads memory that somebody else shares.
use strict;
use warnings;
use lib $ENV{PROGRAMS};
use Attack;

my $segment = shmget(want('SHARED_KEY') + 0, 0, 0) // stopped('finding it');
shmread($segment, my $text, 0, length want('VICTIM_SECRET')) or stopped('reading it');
succeeded('its secret was in it') if $text eq want('VICTIM_SECRET');
stopped('something else was there');
