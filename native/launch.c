/*
 * Starts a command in namespaces of its own (user, mount, pid), with an overlay mounted first if one is asked for.
 * Does in one process what setpriv, unshare, mount and sh do in six; the engine falls back to those without it.
 *
 *   launch PARENT_PID CWD [-e | -o OVERLAY_OPTIONS MOUNT_POINT] -- COMMAND [ARGUMENT...]
 *
 * With -e the command's CWD is an empty directory in memory, gone with it.
 * What keeps the command from being started is told on stderr after MARK, with the exit code 125.
 * Nothing outlives it: the command's tree dies with its pid namespace, that with this process, this with PARENT_PID.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define MARK "bosun-launch: "
enum { FAILED = 125 };

static void fail(const char *what) {
  dprintf(2, MARK "%s: %s\n", what, strerror(errno));
  _exit(FAILED);
}

static void write_file(const char *name, const char *text) {
  int file = open(name, O_WRONLY | O_CLOEXEC);
  if (file < 0 || write(file, text, strlen(text)) < 0) fail(name);
  close(file);
}

static void enter_namespaces(void) {
  char map[64];
  uid_t uid = geteuid();
  gid_t gid = getegid();
  if (unshare(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID) < 0) fail("unshare");
  write_file("/proc/self/setgroups", "deny");
  snprintf(map, sizeof map, "%u %u 1", uid, uid);
  write_file("/proc/self/uid_map", map);
  snprintf(map, sizeof map, "%u %u 1", gid, gid);
  write_file("/proc/self/gid_map", map);
  if (mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0) fail("mount");
}

/* Capabilities were for the mounts; the command gets none that its user does not have by itself. */
static void drop_capabilities(void) {
  struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  struct __user_cap_data_struct data[2] = {{0}};
  prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
  syscall(SYS_capset, &header, data);
}

static int code_of(int status) {
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static int wait_for(pid_t child) {
  for (int status;;) {
    pid_t ended = waitpid(-1, &status, 0); /* as the first process of a namespace it also inherits orphans */
    if (ended == child && !WIFSTOPPED(status)) return code_of(status);
    if (ended < 0 && errno != EINTR) return FAILED;
  }
}

/* The first process of the pid namespace: when it ends, the kernel ends everything in it. */
static void be_init(int parent_lives, const char *cwd, char **command, const sigset_t *signals) {
  struct pollfd end = {parent_lives, 0, 0};
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (poll(&end, 1, 0) != 0) _exit(FAILED); /* it died before the line above */
  if (mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) < 0) fail("mount /proc");
  if (chdir(cwd) < 0) fail(cwd);
  pid_t child = fork();
  if (child < 0) fail("fork");
  if (child == 0) {
    drop_capabilities();
    sigprocmask(SIG_SETMASK, signals, NULL);
    execvp(command[0], command);
    int code = errno == ENOENT ? 127 : 126;
    dprintf(2, "%s: %s\n", command[0], strerror(errno));
    _exit(code);
  }
  _exit(wait_for(child));
}

int main(int argc, char **argv) {
  if (argc < 5) return FAILED;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != atoi(argv[1])) return FAILED; /* the engine died before the line above */
  const char *cwd = argv[2];
  int at = 3;
  enter_namespaces();
  if (strcmp(argv[at], "-e") == 0) {
    if (mount("tmpfs", cwd, "tmpfs", MS_NOSUID | MS_NODEV, "size=64m,mode=0700") < 0) fail("mount tmpfs");
    at += 1;
  } else if (strcmp(argv[at], "-o") == 0) {
    if (argc < 8) return FAILED;
    if (mount("overlay", argv[at + 2], "overlay", 0, argv[at + 1]) < 0) fail("mount overlay");
    at += 3;
  }
  int alive[2];
  if (pipe2(alive, O_CLOEXEC) < 0) fail("pipe");
  sigset_t blocked, before;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGTERM);
  sigaddset(&blocked, SIGINT);
  sigaddset(&blocked, SIGHUP);
  sigprocmask(SIG_BLOCK, &blocked, &before);
  pid_t init = fork();
  if (init < 0) fail("fork");
  if (init == 0) {
    close(alive[1]);
    be_init(alive[0], cwd, argv + at + 1, &before);
  }
  return wait_for(init);
}
