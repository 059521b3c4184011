# Reads the environment of every process it can find.
use strict;
use warnings;
use lib $ENV{PROGRAMS};
use Attack;

for my $file (glob '/proc/[0-9]*/environ') {
    my $text = slurp($file) // next;
    next if $file eq "/proc/$$/environ" || index($text, 'ENGINE_KEY=' . want('VICTIM_SECRET')) < 0;
    succeeded("the key of the engine is in $file");
}
stopped('no process has it');
