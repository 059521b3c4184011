# Opens the file through which anyone who may write it can stop the machine; writes nothing.
use strict;
use warnings;
use lib $ENV{PROGRAMS};
use Attack;
use Fcntl;

sysopen(my $out, '/proc/sysrq-trigger', O_WRONLY) or stopped('opening it for writing');
succeeded('/proc/sysrq-trigger is open for writing');
