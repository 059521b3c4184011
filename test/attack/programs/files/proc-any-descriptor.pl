# Opens the files that other processes hold open.
use strict;
use warnings;
use lib $ENV{PROGRAMS};
use Attack;

for my $link (glob '/proc/[0-9]*/fd/*') {
    next if $link =~ m{^/proc/$$/} || !-f $link;
    my $text = slurp($link) // next;
    succeeded("read it through $link") if index($text, want('VICTIM_SECRET')) >= 0;
}
stopped('no process has it');
