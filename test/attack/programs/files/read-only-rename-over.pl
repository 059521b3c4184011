# Renames a file of its own over a file of a read-only directory.
use strict;
use warnings;
use lib $ENV{PROGRAMS};
use Attack;

my $workspace = want('WORKSPACE');
append("$workspace/src/mine.md", "attacked\n");
if (!rename("$workspace/src/mine.md", "$workspace/docs/spec.md")) {
    my $error = $!;
    unlink "$workspace/src/mine.md";
    $! = $error;
    stopped('renaming over it');
}
succeeded('docs/spec.md was replaced') if slurp("$workspace/docs/spec.md") eq "attacked\n";
stopped('reading it back');
