/*
 * Tells which directories of an overlay's layer hide all that lies below them: Node reads no extended attributes.
 * Reads paths, each ended by a zero byte, until its input ends; answers each with one letter: y, n, or ? and, in
 * the latter case, nothing more is known than that it could not be read. What was asked together is answered together.
 */
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/xattr.h>
#include <unistd.h>

static char answer(const char *path) {
  char value[2];
  ssize_t length = lgetxattr(path, "user.overlay.opaque", value, sizeof value);
  if (length >= 0) return length == 1 && value[0] == 'y' ? 'y' : 'n';
  return errno == ENODATA || errno == ERANGE ? 'n' : '?';
}

int main(void) {
  /* A path, and what came with it of the next ones. */
  static char asked[PATH_MAX + 65536];
  static char answers[sizeof asked];
  size_t length = 0;
  for (;;) {
    ssize_t got = read(0, asked + length, sizeof asked - length);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return got < 0;
    length += (size_t)got;
    char *at = asked;
    size_t count = 0;
    for (char *end; (end = memchr(at, 0, (size_t)(asked + length - at))) != NULL; at = end + 1)
      answers[count++] = answer(at);
    length = (size_t)(asked + length - at);
    if (length >= PATH_MAX) return 1;
    memmove(asked, at, length);
    for (size_t told = 0; told < count;) {
      ssize_t put = write(1, answers + told, count - told);
      if (put < 0 && errno != EINTR) return 1;
      if (put > 0) told += (size_t)put;
    }
  }
}
