/*
 * Tells which directories of an overlay's layer hide all that lies below them: Node reads no extended attributes.
 * Reads paths, each ended by a zero byte, until its input ends; answers each with one letter: y, n, or ? and, in
 * the latter case, nothing more is known than that it could not be read.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <sys/xattr.h>

static char answer(const char *path) {
  char value[2];
  ssize_t length = lgetxattr(path, "user.overlay.opaque", value, sizeof value);
  if (length >= 0) return length == 1 && value[0] == 'y' ? 'y' : 'n';
  return errno == ENODATA || errno == ERANGE ? 'n' : '?';
}

int main(void) {
  static char path[PATH_MAX];
  size_t length = 0;
  for (int next; (next = getchar()) != EOF;) {
    if (length == sizeof path - 1) return 1;
    path[length++] = (char)next;
    if (next != 0) continue;
    putchar(answer(path));
    fflush(stdout);
    length = 0;
  }
  return 0;
}
