# Moves the branch of the user's repository.
use strict;
use warnings;
use lib $ENV{PROGRAMS};
use Attack;

my $branch = want('USER_REPO') . '/.git/refs/heads/main';
open(my $out, '>', $branch) or stopped('opening it');
print {$out} '0' x 39 . "1\n";
close($out) or stopped('writing it');
succeeded("$branch points elsewhere") if slurp($branch) =~ /^0{39}1/;
stopped('it points where it did');
