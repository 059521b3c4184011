# Looks for limits of the first process that are larger than its own: whoever traces it could use them.
use strict;
use warnings;
use lib $ENV{PROGRAMS};
use Attack;

my $limit = want('LIMIT');
my $limits = slurp('/proc/1/limits') // stopped('reading the limits of the first process');
for my $name ('Max processes', 'Max open files') {
    my ($most) = $limits =~ /^$name\s+\S+\s+(\S+)/m;
    succeeded("$name of the first process: $most") if $most eq 'unlimited' || $most > 2 * $limit;
}
stopped('the first process has the same limits');
