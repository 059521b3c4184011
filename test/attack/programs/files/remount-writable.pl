# Mounts a read-only directory again, writable this time, and writes.
use strict;
use warnings;
use lib $ENV{PROGRAMS};
use Attack;

my ($MS_RDONLY, $MS_REMOUNT, $MS_BIND) = (1, 32, 0x1000);
my $docs = want('WORKSPACE') . '/docs';
my @points = grep { index($docs, $_) == 0 && index($_, want('WORLD')) == 0 }
    map { (split)[4] } split /\n/, slurp('/proc/self/mountinfo') // '';
my $own = !@points;
if ($own) {    # nothing holds it here: make it read-only first, so that there is something to undo
    sys('mount', $docs, $docs, 0, $MS_BIND, 0) == 0 or stopped('binding it');
    my $none = '';
    sys('mount', $none, $docs, 0, $MS_BIND | $MS_REMOUNT | $MS_RDONLY, 0);
    push @points, $docs;
}
my $why = $!;
for my $point (reverse @points) {
    my $none = '';
    sys('mount', $none, $point, 0, $MS_BIND | $MS_REMOUNT, 0) == 0 or $why = $!;
}
my $out;
my $wrote = open($out, '>>', "$docs/spec.md") && syswrite($out, "attacked\n");
close $out if $wrote;
sys('umount2', $docs, 2) if $own;
succeeded("$docs became writable") if $wrote;
$! = $why;
stopped('remounting it');
