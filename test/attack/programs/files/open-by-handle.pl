# Opens a secret by the number of its inode, past every directory.
use strict;
use warnings;
use lib $ENV{PROGRAMS};
use Attack;

my ($type, $hex) = split /:/, want('SECRET_HANDLE');
my $bytes = pack('H*', $hex);
my $handle = pack('Ll', length $bytes, $type) . $bytes;
opendir(my $directory, want('WORKSPACE') . '/src') or stopped('opening the workspace');
my $descriptor = sys('open_by_handle_at', fileno($directory), $handle, 0);
stopped('opening the handle') if $descriptor < 0;
open(my $in, '<&=', $descriptor) or stopped('reading it');
succeeded('read it by its handle') if index(<$in> // '', want('SECRET')) >= 0;
stopped('something else was there');
