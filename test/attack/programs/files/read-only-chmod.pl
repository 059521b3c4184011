# Changes the mode of a read-only directory and of a file in it, then writes.
use strict;
use warnings;
use lib $ENV{PROGRAMS};
use Attack;

my $docs = want('WORKSPACE') . '/docs';
chmod(0777, $docs) or stopped('changing the mode of the directory');
chmod(0666, "$docs/spec.md") or stopped('changing the mode of the file');
succeeded('modes changed and docs/spec.md written') if append("$docs/spec.md", "attacked\n");
stopped('writing');
