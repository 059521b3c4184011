# Puts an extended attribute on a file of a read-only directory.
use strict;
use warnings;
use lib $ENV{PROGRAMS};
use Attack;

my ($file, $name, $value) = (want('WORKSPACE') . '/docs/spec.md', 'user.attack', 'x');
sys('setxattr', $file, $name, $value, 1, 0) == 0 or stopped('setting it');
succeeded("user.attack is on $file");
