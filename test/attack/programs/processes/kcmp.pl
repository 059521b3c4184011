# Compares its own kernel objects with those of somebody else, which tells their addresses.
use strict;
use warnings;
use lib $ENV{PROGRAMS};
use Attack;

my $answer = sys('kcmp', $$ + 0, want('VICTIM_PID') + 0, 1, 0, 0);
stopped('comparing') if $answer < 0;
succeeded("the answer is $answer");
