# Makes a nameless file in a read-only directory and gives it a name there.
use strict;
use warnings;
use lib $ENV{PROGRAMS};
use Attack;
use Fcntl;

my $docs = want('WORKSPACE') . '/docs';
my $O_TMPFILE = 020000000 | O_DIRECTORY;
sysopen(my $handle, $docs, $O_TMPFILE | O_RDWR, 0644) or stopped('opening it');
syswrite($handle, "attacked\n");
my ($from, $to) = ('/proc/self/fd/' . fileno($handle), "$docs/nameless.md");
sys('linkat', AT_FDCWD, $from, AT_FDCWD, $to, 0x400) == 0 or stopped('naming it');
succeeded("made $to") if slurp($to) eq "attacked\n";
stopped('reading it back');
