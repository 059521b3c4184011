# Gives a program of its own every capability, for whoever starts it.
use strict;
use warnings;
use lib $ENV{PROGRAMS};
use Attack;

my ($file, $name) = (want('WORKSPACE') . '/src/strong', 'security.capability');
append($file, "#!/bin/sh\n");
my $value = pack('L5', 0x02000001, 0xffffffff, 0, 0xffffffff, 0);
my $done = sys('setxattr', $file, $name, $value, length $value, 0) == 0;
my $error = $!;
unlink $file;
$! = $error;
succeeded("$file had every capability") if $done;
stopped('setting them');
