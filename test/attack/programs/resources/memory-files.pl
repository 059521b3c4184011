# Takes more memory than its limit in files of several directories that lie in memory.
use strict;
use warnings;
use lib $ENV{PROGRAMS};
use Attack;

my $limit = want('LIMIT');
stopped('the limit is too large for this') if $limit > 64 * 1024 * 1024;
my ($bytes, @files) = (0);
for my $directory ('/tmp', '/dev/shm', $ENV{HOME} // '/tmp') {
    my $file = "$directory/fill.$<.$$." . @files;
    open(my $out, '>', $file) or stopped("making $file");
    push @files, $file;
    for (1 .. int($limit * 0.6 / 1048576)) { $bytes += syswrite($out, 'x' x 1048576) // 0 }
}
select undef, undef, undef, 0.9;
unlink @files;
succeeded("has $bytes bytes") if $bytes > $limit;
$! = Errno::ENOSPC();
stopped("writing more than $bytes");
