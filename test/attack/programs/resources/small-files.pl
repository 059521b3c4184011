# Fills the disk over its limit with files of one byte each.
use strict;
use warnings;
use lib $ENV{PROGRAMS};
use Attack;

my ($limit, $directory) = (want('LIMIT'), want('WORKSPACE') . '/src/many');
stopped('the limit is too large for this') if $limit > 6 * 1024 * 1024;
mkdir $directory or stopped('making a directory');
my ($count, $why) = (0, 0);
while ($count * 4096 <= $limit * 1.2) {
    open(my $out, '>', "$directory/$count") or do { $why = $!; last };
    syswrite($out, 'x') // do { $why = $!; last };
    close $out or do { $why = $!; last };
    $count += 1;
}
select undef, undef, undef, 0.8;
unlink glob "$directory/*";
rmdir $directory;
succeeded("made $count files") if $count * 4096 > $limit;
$! = $why;
stopped("making more than $count");
