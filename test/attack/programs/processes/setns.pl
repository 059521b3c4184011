# Enters the mount namespace of any process it can find.
use strict;
use warnings;
use lib $ENV{PROGRAMS};
use Attack;

my $why;
for my $file ('/proc/' . want('VICTIM_PID') . '/ns/mnt', glob('/proc/[0-9]*/ns/mnt')) {
    open(my $space, '<', $file) or do { $why = $!; next };
    sys('setns', fileno($space), 0x20000) == 0 or do { $why = $!; next };
    succeeded("entered $file") if -e want('SECRET_FILE');
}
$! = $why;
stopped('entering one');
