/*
 * Opens directories of a running sandbox for writing; its processes see it at once, without a restart.
 *
 *   grant [-u UID] PID START_TICKS WORKSPACE DIRECTORY...
 *
 * PID is a process of the sandbox and START_TICKS its start as in /proc/PID/stat: the number alone may be somebody
 * else's by now. Directories are relative to WORKSPACE, those above others first; a missing one is made. With -u it
 * first becomes the user that the sandbox belongs to. It has no privilege of its own: only whoever owns the
 * sandbox's namespaces gets through, and nobody inside does.
 *
 * Whoever is inside may change the tree meanwhile. So no symbolic link is followed, nothing outside of the
 * workspace's own file system is touched, and what was looked at is used by its descriptor, never again by its name.
 * Ends with 0, or with 1 and one line on stderr at the first directory that cannot be opened.
 */
#define _GNU_SOURCE
#include <linux/nsfs.h>
#include <linux/openat2.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include "sandbox.h"

/* Not in the headers of every system that has them in its kernel. */
#ifndef SYS_open_tree
#define SYS_open_tree 428
#define SYS_move_mount 429
#endif
#ifndef SYS_mount_setattr
#define SYS_mount_setattr 442
#endif
enum { CLONE_TREE = 1, RECURSIVE = 0x8000, FROM_DESCRIPTOR = 0x04, TO_DESCRIPTOR = 0x40 };
enum { READ_ONLY = 1 };
#ifndef STATX_ATTR_MOUNT_ROOT
#define STATX_ATTR_MOUNT_ROOT 0x2000
#endif
struct attributes {
  unsigned long long set, clear, propagation, user_namespace;
};

static void enter(const char *pid, const char *start) {
  int process = open_process(pid, start);
  int mounts = checked(openat(process, "ns/mnt", O_RDONLY | O_CLOEXEC), "its mount namespace");
  int owner = checked(ioctl(mounts, NS_GET_USERNS), "the owner of its mount namespace");
  checked(setns(owner, CLONE_NEWUSER), "entering its user namespace");
  checked(setns(mounts, CLONE_NEWNS), "entering its mount namespace");
}

static int open_below(int directory, const char *name, unsigned long long resolve) {
  struct open_how how = {.flags = O_PATH | O_DIRECTORY | O_CLOEXEC,
                         .resolve = resolve | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS};
  return (int)syscall(SYS_openat2, directory, name, &how, sizeof how);
}

static int is_mount_root(int directory) {
  struct statx found;
  checked(statx(directory, "", AT_EMPTY_PATH, STATX_TYPE, &found), "statx");
  return (found.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0;
}

static int is_read_only(int directory) {
  struct statvfs found;
  checked(fstatvfs(directory, &found), "statvfs");
  return (found.f_flag & ST_RDONLY) != 0;
}

static void make_writable(int mount) {
  struct attributes changed = {.clear = READ_ONLY}; /* all else stays: nosuid, nodev */
  checked((int)syscall(SYS_mount_setattr, mount, "", AT_EMPTY_PATH, &changed, sizeof changed), "mount_setattr");
}

/* A mount of the same directory that nobody can see. */
static int detached(int directory, unsigned recursive) {
  unsigned flags = CLONE_TREE | O_CLOEXEC | AT_EMPTY_PATH | recursive;
  return checked((int)syscall(SYS_open_tree, directory, "", flags), "open_tree");
}

/* Another file system there hides something from those inside. */
static void check_same_file_system(int workspace, int directory) {
  struct stat whole, part;
  checked(fstat(workspace, &whole), "stat");
  checked(fstat(directory, &part), "stat");
  if (whole.st_dev == part.st_dev) return;
  errno = EXDEV;
  fail("it is hidden");
}

/* Makes what is missing of a path, below `parent`. */
static void make(int workspace, int parent, const char *path) {
  check_same_file_system(workspace, parent);
  int at = parent;
  if (is_read_only(parent)) make_writable(at = detached(parent, 0));
  char *names = strdup(path), *rest = names;
  for (char *name; (name = strtok_r(rest, "/", &rest)) != NULL;) {
    if (mkdirat(at, name, 0755) < 0 && errno != EEXIST) fail("mkdir");
    at = checked(open_below(at, name, RESOLVE_BENEATH | RESOLVE_NO_XDEV), "opening what was made");
  }
  free(names);
}

/* Step by step, so that what is missing can be made below the last one that is there. */
static void make_missing(int workspace, const char *path) {
  char *begin = strdup(path);
  int parent = workspace;
  for (char *rest = begin, *name; *rest != 0;) {
    const char *missing = path + (rest - begin);
    name = strsep(&rest, "/");
    int next = open_below(parent, name, RESOLVE_BENEATH);
    if (next < 0 && errno != ENOENT) fail("opening a directory above it");
    if (next < 0) {
      make(workspace, parent, missing);
      break;
    }
    parent = next;
    if (rest == NULL) break;
  }
  free(begin);
}

/* All that is mounted below comes along, else a fresh mount would show what those mounts hide. */
static void widen(int workspace, const char *path) {
  const char *name = *path == 0 ? "." : path;
  int directory = open_below(workspace, name, RESOLVE_BENEATH);
  if (directory < 0 && errno == ENOENT) {
    make_missing(workspace, path);
    directory = open_below(workspace, name, RESOLVE_BENEATH);
  }
  checked(directory, "opening it");
  check_same_file_system(workspace, directory);
  if (is_mount_root(directory)) {
    make_writable(directory);
  } else if (is_read_only(directory)) {
    int mount = detached(directory, RECURSIVE);
    make_writable(mount);
    checked((int)syscall(SYS_move_mount, mount, "", directory, "", FROM_DESCRIPTOR | TO_DESCRIPTOR), "move_mount");
    close(mount);
  }
  close(directory);
}

int main(int argc, char **argv) {
  int at = 1;
  if (argc > 2 && strcmp(argv[1], "-u") == 0) {
    become(argv[2]);
    at = 3;
  }
  if (argc - at < 4) {
    dprintf(2, "usage: grant [-u UID] PID START_TICKS WORKSPACE DIRECTORY...\n");
    return 1;
  }
  enter(argv[at], argv[at + 1]);
  int workspace = checked(open_below(AT_FDCWD, argv[at + 2], 0), "opening its workspace");
  if (!is_mount_root(workspace)) {
    errno = EXDEV;
    fail("its workspace is not mounted");
  }
  for (at += 3; at < argc; at++) {
    doing = argv[at];
    widen(workspace, argv[at]);
  }
  return 0;
}
