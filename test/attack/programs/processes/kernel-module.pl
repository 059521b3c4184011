# Asks the kernel to load a module; hands it no file.
use strict;
use warnings;
use lib $ENV{PROGRAMS};
use Attack;

my $none = '';
sys('finit_module', -1, $none, 0);
succeeded('the kernel would have taken one') if $!{EBADF};
stopped('loading one');
