# Stands for the engine and for any other process: holds a secret in every place that an attack looks at.
use strict;
use warnings;
use lib $ENV{PROGRAMS};
use Attack;

alarm 60;
my $secret = $ENV{ENGINE_KEY};
open(my $held, '<', $ENV{HELD_FILE}) or die "$ENV{HELD_FILE}: $!";
sys('prctl', 0x59616d61, -1, 0, 0, 0);    # where only parents may trace, let anyone
my $shared = eval { shmget($ENV{SHARED_KEY} + 0, 4096, 01600 | 0066) };
shmwrite($shared, $secret, 0, length $secret) if defined $shared;
# Keys outlive their maker and are counted: made for the attack on keys alone.
my ($type, $name) = ('user', $ENV{KEY_NAME});
my $key = $ENV{WITH_KEY} ? sys('add_key', $type, $name, $secret, length $secret, -4) : -1;
if ($key > 0) {
    sys('keyctl', 5, $key, 0x3f3f3f3f);
    sys('keyctl', 15, $key, 30);
}
printf "%s\n", join ' ', unpack('J', pack('p', $secret)), fileno($held), handle_of($ENV{SECRET_FILE});
1 while sysread(STDIN, my $ignored, 100);
sys('keyctl', 21, $key) if $key > 0;

# By which a file can be opened without its path.
sub handle_of {
    my ($file, $handle, $mount) = ($_[0], pack('Ll', 128, 0) . "\0" x 128, pack('l', 0));
    sys('name_to_handle_at', AT_FDCWD, $file, $handle, $mount, 0) == 0 or return '';
    my ($length, $type) = unpack 'Ll', $handle;
    return "$type:" . unpack('H*', substr $handle, 8, $length);
}
