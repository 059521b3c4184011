# Makes a hard link to a file outside and writes through it.
use strict;
use warnings;
use lib $ENV{PROGRAMS};
use Attack;

my $link = want('WORKSPACE') . '/src/hard';
link(want('TARGET_FILE'), $link) or stopped('linking');
my $done = append($link, "attacked\n");
unlink $link;
succeeded("wrote $ENV{TARGET_FILE}") if $done && slurp($ENV{TARGET_FILE}) =~ /attacked/;
stopped('writing');
