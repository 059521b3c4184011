# Clears the read-only flag of a mount by the newer of the system calls for it.
use strict;
use warnings;
use lib $ENV{PROGRAMS};
use Attack;

my ($MS_RDONLY, $MS_REMOUNT, $MS_BIND) = (1, 32, 0x1000);
my ($docs, $none) = (want('WORKSPACE') . '/docs', '');
my $own = !grep { index($docs, $_) == 0 && index($_, want('WORLD')) == 0 }
    map { (split)[4] } split /\n/, slurp('/proc/self/mountinfo') // '';
my $point = $own ? $docs : want('WORKSPACE');
if ($own) {    # nothing holds it here: make it read-only first, so that there is something to undo
    sys('mount', $docs, $docs, 0, $MS_BIND, 0) == 0 or stopped('binding it');
    sys('mount', $none, $docs, 0, $MS_BIND | $MS_REMOUNT | $MS_RDONLY, 0);
}
my $changed = pack 'Q4', 0, $MS_RDONLY, 0, 0;
my $done = sys('mount_setattr', AT_FDCWD, $point, 0, $changed, length $changed);
my $why = $!;
my $out;
my $wrote = open($out, '>>', "$docs/spec.md") && syswrite($out, "attacked\n");
close $out if $wrote;
sys('umount2', $docs, 2) if $own;
succeeded("$docs became writable") if $wrote;
$! = $why;
stopped('changing the mount');
