# Uses a root directory of its own to climb out of every other.
use strict;
use warnings;
use lib $ENV{PROGRAMS};
use Attack;

my $jail = want('WORKSPACE') . '/src/locked';
opendir(my $out, '/') or stopped('opening /');
sys('chroot', $jail) == 0 or stopped('changing the root');
chdir $out or stopped('going back');
chdir '..' for 1 .. 20;
my $here = '.';
sys('chroot', $here) == 0 or stopped('changing it back');
succeeded('climbed out and read the secret') if index(slurp(want('SECRET_FILE')) // '', want('SECRET')) >= 0;
stopped('reading the secret');
