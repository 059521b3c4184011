# Opens more files than its limit.
use strict;
use warnings;
use lib $ENV{PROGRAMS};
use Attack;

my $limit = want('LIMIT');
my @open;
while (@open < $limit + 10) {
    open(my $in, '<', '/dev/null') or last;
    push @open, $in;
}
succeeded(@open . ' files are open') if @open > $limit;
stopped('opening more than ' . @open);
