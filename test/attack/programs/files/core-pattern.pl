# Opens the pattern by which the kernel starts a program for a crash, and writes what is there already.
use strict;
use warnings;
use lib $ENV{PROGRAMS};
use Attack;

my $file = '/proc/sys/kernel/core_pattern';
my $pattern = slurp($file) // stopped('reading it');
open(my $out, '+<', $file) or stopped('opening it for writing');
syswrite($out, $pattern) // stopped('writing it');
succeeded("$file could be written");
