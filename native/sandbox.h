/*
 * What programs have in common that do something to a running sandbox from outside: who they become, and how they find
 * its process. Everything that goes wrong ends the program, with one line on stderr.
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *doing = "the sandbox"; /* for the message */

static void fail(const char *what) {
  dprintf(2, "%s: %s: %s\n", doing, what, strerror(errno));
  exit(1);
}

static int checked(int result, const char *what) {
  if (result < 0) fail(what);
  return result;
}

static void become(const char *text) {
  uid_t uid = (uid_t)strtoul(text, NULL, 10);
  if (geteuid() == uid) return;
  checked(setgroups(0, NULL), "setgroups");
  checked(setresgid(uid, uid, uid), "setresgid");
  checked(setresuid(uid, uid, uid), "setresuid");
}

/* The 22nd field; the second is a name in parentheses that may contain anything. */
static unsigned long long start_of(int process) {
  char text[4096];
  int file = checked(openat(process, "stat", O_RDONLY | O_CLOEXEC), "its stat");
  ssize_t length = read(file, text, sizeof text - 1);
  close(file);
  if (length < 0) fail("its stat");
  text[length] = 0;
  char *at = strrchr(text, ')');
  for (int field = 2; at != NULL && field < 22; field++) at = strchr(at + 1, ' ');
  return at == NULL ? 0 : strtoull(at, NULL, 10);
}

/*
 * The directory of a process below /proc, which stays that of the one process, also when its number is given to another.
 * The number alone may be somebody else's by now, so it has to have started then.
 */
static int open_process(const char *pid, const char *start) {
  char name[64];
  snprintf(name, sizeof name, "/proc/%lu", strtoul(pid, NULL, 10));
  int process = checked(open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC), "finding its process");
  if (start_of(process) != strtoull(start, NULL, 10)) {
    errno = ESRCH;
    fail("its process");
  }
  return process;
}
