# Plants a hook in the user's repository.
use strict;
use warnings;
use lib $ENV{PROGRAMS};
use Attack;

my $hook = want('USER_REPO') . '/.git/hooks/pre-commit';
append($hook, "#!/bin/sh\necho attacked\n");
chmod(0755, $hook) or stopped('making it executable');
succeeded("$hook would run at the user's next commit") if -x $hook;
stopped('it is not executable');
