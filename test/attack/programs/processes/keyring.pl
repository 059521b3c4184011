# Finds a key of the same user in the kernel and reads it.
use strict;
use warnings;
use lib $ENV{PROGRAMS};
use Attack;

my ($type, $name) = ('user', want('KEY_NAME'));
my $key = sys('keyctl', 10, -4, $type, $name, 0);
stopped('finding it') if $key < 0;
my $text = "\0" x 256;
my $length = sys('keyctl', 11, $key, $text, 256);
stopped('reading it') if $length < 0;
succeeded('the key was read') if index($text, want('VICTIM_SECRET')) >= 0;
stopped('something else was there');
