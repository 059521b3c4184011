# Writes to the memory of a process of somebody else through /proc.
use strict;
use warnings;
use lib $ENV{PROGRAMS};
use Attack;

open(my $memory, '+<', '/proc/' . want('VICTIM_PID') . '/mem') or stopped('opening it');
sysseek($memory, want('VICTIM_ADDRESS'), 0) or stopped('going there');
sysread($memory, my $text, length want('VICTIM_SECRET')) or stopped('reading it');
succeeded('its memory is open for writing') if $text eq want('VICTIM_SECRET');
stopped('something else was there');
