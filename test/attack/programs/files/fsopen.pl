# Opens a file system of its own with the new mount calls.
use strict;
use warnings;
use lib $ENV{PROGRAMS};
use Attack;

my $type = 'tmpfs';
my $handle = sys('fsopen', $type, 0);
stopped('opening it') if $handle < 0;
succeeded('a file system is open');
