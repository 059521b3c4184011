# Takes more memory than its limit and keeps it.
use strict;
use warnings;
use lib $ENV{PROGRAMS};
use Attack;

my $bytes = want('LIMIT') * 2;
stopped('the limit is too large for this') if $bytes > 64 * 1024 * 1024;
my $memory = eval { 'x' x $bytes } // stopped('taking it');
select undef, undef, undef, 0.8;
succeeded('has ' . length($memory) . ' bytes');
