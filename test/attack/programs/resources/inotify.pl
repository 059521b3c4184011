# Has more files watched by the kernel than its limit.
use strict;
use warnings;
use lib $ENV{PROGRAMS};
use Attack;

alarm 7;    # it takes thousands of calls, and others use the machine, too
my ($limit, $directory) = (32_768, want('WORKSPACE') . '/src');
my ($files, $count, $why) = (1000, 0, 0);
for (1 .. $files) { open(my $out, '>', "$directory/watched.$_") or stopped('making a file') }
WATCHER: for (1 .. 34) {
    my $watcher = sys('inotify_init1', 0);
    if ($watcher < 0) { $why = $!; last }
    for (1 .. $files) {
        my $file = "$directory/watched.$_";
        if (sys('inotify_add_watch', $watcher, $file, 2) < 0) { $why = $!; last WATCHER }
        $count += 1;
    }
}
unlink "$directory/watched.$_" for 1 .. $files;
succeeded("$count files are watched") if $count > $limit;
$! = $why;
stopped("watching more than $count");
