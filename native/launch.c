/*
 * Starts a command in namespaces of its own. Does in one process what setpriv, unshare, mount, sh and prlimit do in
 * several; the engine falls back to those without it.
 *
 *   launch PARENT_PID [OPTION...] -- COMMAND [ARGUMENT...]
 *     -u UID               become this user, with the group of the same number, first; for root
 *     -s DIRECTORY         put an empty directory in the place of one that this user may not enter
 *     -r PATH              keep this path where it is, below such a directory; both from the outside in
 *     -w DIRECTORY         what relative paths of -o begin at
 *     -o OPTIONS AT        mount an overlay
 *     -e                   make the command's own directory an empty one in memory
 *     -d DIRECTORY         the command's own directory
 *     -f                   COMMAND fences itself (bwrap): it gets descriptors 3, 4 and 5, a copy of 4
 *     -l PROCESSES FILES   limits of COMMAND and all below it, the first process inside included (0: none)
 *
 *   launch inside PROCESSES FILES
 *     sets limits within a sandbox (0: none), waits for a command on stdin and becomes it, see `await_command`
 *
 *   launch wait
 *     only waits for a command on stdin and becomes it
 *
 *   launch serve PARENT_PID DIRECTORY
 *     stays, and does the first for each message on stdin, see `serve`: to fork a small process costs less than to fork
 *     the engine. The streams of what it starts are connections to the socket `s` of DIRECTORY.
 *
 * What keeps the command from being started is told on stderr after MARK, with the exit code 125.
 * Nothing outlives it: the command's tree dies with its pid namespace, that with this process, this with PARENT_PID.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <linux/capability.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define MARK "bosun-launch: "
/* As WATCHES_MAX and WATCHERS_MAX of src/sandbox/linux/launch-lines.ts. */
#define WATCHES_MAX "32768"
#define WATCHERS_MAX "128"
enum { FAILED = 125, PLACES_MAX = 512, NAMED_FILES_MAX = 5, MEMLOCK_BYTES = 1024 * 1024, BWRAP_FILES = 64 };

static void fail(const char *what) {
  dprintf(2, MARK "%s: %s\n", what, strerror(errno));
  _exit(FAILED);
}

static void write_file(const char *name, const char *text) {
  int file = open(name, O_WRONLY | O_CLOEXEC);
  if (file < 0 || write(file, text, strlen(text)) < 0) fail(name);
  close(file);
}

static void run(char **command) {
  execvp(command[0], command);
  int code = errno == ENOENT ? 127 : 126;
  dprintf(2, "%s: %s\n", command[0], strerror(errno));
  _exit(code);
}

static void read_fully(char *into, size_t length) {
  while (length > 0) {
    ssize_t count = read(0, into, length);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) _exit(FAILED); /* nobody needs this process any more */
    into += count;
    length -= (size_t)count;
  }
}

/* What the engine's own parents left open must not reach a command. */
static void close_from(unsigned first) {
  if (syscall(SYS_close_range, first, ~0U, 0) < 0) fail("close_range");
}

struct place {
  const char *path;
  int is_kept; /* else an empty directory goes here */
  int tree;
};

static void make_place(const char *path, int is_directory) {
  char part[PATH_MAX];
  if (strlen(path) >= sizeof part) fail(path);
  for (const char *slash = strchr(path + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
    snprintf(part, sizeof part, "%.*s", (int)(slash - path), path);
    if (mkdir(part, 0755) < 0 && errno != EEXIST) fail(part);
  }
  if (is_directory) {
    if (mkdir(path, 0755) < 0 && errno != EEXIST) fail(path);
    return;
  }
  int file = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0644);
  if (file < 0) fail(path);
  close(file);
}

/* Directories such as /root let nobody else through: the few paths that are needed are shown in empty ones instead.
   From the outside in: what is shown may have such a directory in it. */
static void shadow(struct place *places, int count) {
  umask(022);
  for (struct place *each = places; each < places + count; each++) {
    if (!each->is_kept) continue;
    each->tree = (int)syscall(SYS_open_tree, AT_FDCWD, each->path, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE);
    if (each->tree < 0) fail(each->path);
  }
  for (struct place *each = places; each < places + count; each++) {
    if (!each->is_kept) {
      if (mount("tmpfs", each->path, "tmpfs", MS_NOSUID | MS_NODEV, "size=1m,mode=0755") < 0) fail(each->path);
      continue;
    }
    struct stat entry;
    if (fstat(each->tree, &entry) < 0) fail(each->path);
    make_place(each->path, S_ISDIR(entry.st_mode));
    if (syscall(SYS_move_mount, each->tree, "", AT_FDCWD, each->path, MOVE_MOUNT_F_EMPTY_PATH) < 0) fail(each->path);
    close(each->tree);
  }
}

static void become(uid_t uid) {
  if (setgroups(0, NULL) < 0) fail("setgroups");
  if (setresgid(uid, uid, uid) < 0) fail("setresgid");
  if (setresuid(uid, uid, uid) < 0) fail("setresuid");
  prctl(PR_SET_DUMPABLE, 1); /* else the maps of the user namespace belong to root */
}

static void die_with(pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL); /* a change of user clears it */
  if (getppid() != parent) _exit(FAILED); /* the engine died before the line above */
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
static void be_init(const char *cwd, char **command, const sigset_t *signals) {
  if (chdir(cwd) < 0) fail(cwd);
  pid_t child = fork();
  if (child < 0) fail("fork");
  if (child == 0) {
    drop_capabilities();
    sigprocmask(SIG_SETMASK, signals, NULL);
    run(command);
  }
  _exit(wait_for(child));
}

/* Watches are memory of the kernel, and else come out of what the user's own editor has. Older kernels know not all. */
static void bound_watches(void) {
  static const char *const bounds[][2] = {
      {"/proc/sys/user/max_inotify_watches", WATCHES_MAX},
      {"/proc/sys/user/max_inotify_instances", WATCHERS_MAX},
      {"/proc/sys/user/max_fanotify_marks", WATCHES_MAX},
      {"/proc/sys/user/max_fanotify_groups", WATCHERS_MAX},
  };
  for (size_t n = 0; n < sizeof bounds / sizeof *bounds; n++) {
    int file = open(bounds[n][0], O_WRONLY | O_CLOEXEC);
    if (file < 0 && errno == ENOENT) continue;
    if (file < 0 || write(file, bounds[n][1], strlen(bounds[n][1])) < 0) fail(bounds[n][0]);
    close(file);
  }
}

/* A hard limit can only be lowered. */
static void limit(int resource, rlim_t most) {
  struct rlimit both;
  if (getrlimit(resource, &both) < 0) fail("getrlimit");
  if (both.rlim_max != RLIM_INFINITY && both.rlim_max < most) most = both.rlim_max;
  both.rlim_cur = both.rlim_max = most;
  if (setrlimit(resource, &both) < 0) fail("setrlimit");
}

static void set_limits(rlim_t processes, rlim_t files) {
  if (processes > 0) limit(RLIMIT_NPROC, processes);
  if (files > 0) limit(RLIMIT_NOFILE, files);
  limit(RLIMIT_MEMLOCK, MEMLOCK_BYTES);
  limit(RLIMIT_CORE, 0);
  int file = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  if (file < 0) return;
  if (write(file, "500", 3) < 0) errno = 0; /* when the machine runs out of memory, agents go before the engine */
  close(file);
}

/* `cwd` is NULL for a command that fences itself: it becomes the first process. */
static int hold_in_pid_namespace(const char *cwd, char **command, rlim_t processes, rlim_t files) {
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
    struct pollfd end = {alive[0], 0, 0};
    close(alive[1]);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (poll(&end, 1, 0) != 0) _exit(FAILED); /* it died before the line above */
    /* bwrap too looks its children up by the numbers that they have here */
    if (mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) < 0) fail("mount /proc");
    if (cwd != NULL) be_init(cwd, command, &before);
    bound_watches();
    /* here, and not only inside: the command could use bwrap's process there, which it may trace */
    set_limits(processes, files > 0 && files < BWRAP_FILES ? BWRAP_FILES : files);
    sigprocmask(SIG_SETMASK, &before, NULL);
    run(command);
  }
  return wait_for(init);
}

/*
 * Ten digits say how many bytes follow. Those are parts, each ended by a zero byte: "input" or "nothing" for what
 * the rest of stdin is, the number of the command's words, these words, then its environment.
 */
static void await_command(void) {
  char digits[11] = {0};
  read_fully(digits, 10);
  size_t length = strtoul(digits, NULL, 10), parts = 0;
  char *text = malloc(length + 1);
  if (length == 0 || text == NULL) _exit(FAILED);
  read_fully(text, length);
  text[length] = 0;
  for (size_t n = 0; n < length; n++) parts += text[n] == 0;
  char **list = calloc(parts + 2, sizeof *list);
  if (list == NULL || parts < 3) _exit(FAILED);
  char *part = text;
  for (size_t n = 0; n < parts; n++, part += strlen(part) + 1) list[n] = part;
  size_t words = strtoul(list[1], NULL, 10);
  if (words == 0 || words > parts - 2) _exit(FAILED);
  if (strcmp(list[0], "nothing") == 0) {
    int none = open("/dev/null", O_RDONLY);
    if (none < 0 || dup2(none, 0) < 0) fail("/dev/null");
    if (none > 0) close(none);
  }
  char **command = calloc(words + 1, sizeof *command);
  if (command == NULL) _exit(FAILED);
  memcpy(command, list + 2, words * sizeof *command);
  environ = list + 2 + words;
  run(command);
}

static int inside(int argc, char **argv) {
  if (argc < 4) return FAILED;
  set_limits(strtoul(argv[2], NULL, 10), strtoul(argv[3], NULL, 10));
  await_command();
  return FAILED;
}

/* The kernel makes directories there that nobody may enter, not even who removes what a killed engine left. */
static void unlock_work(const char *overlay) {
  static const char *const names[] = {"work", "work/incompat", "work/incompat/volatile"};
  const char *work = strstr(overlay, ",workdir=");
  for (size_t n = 0; work != NULL && n < sizeof names / sizeof *names; n++) {
    char path[PATH_MAX];
    int length = snprintf(path, sizeof path, "%s/%s", work + strlen(",workdir="), names[n]);
    if (length < (int)sizeof path && chmod(path, 0700) < 0) errno = 0; /* only a convenience */
  }
}

/* `argv` begins with the options. */
static int start(pid_t parent, int argc, char **argv, int has_status) {
  uid_t uid = 0;
  const char *from = "/", *cwd = "/", *overlay = NULL, *at = NULL;
  struct place places[PLACES_MAX];
  rlim_t processes = 0, files = 0;
  int place_count = 0, is_empty = 0, is_fence = 0, n = 0;
  for (; n < argc && strcmp(argv[n], "--") != 0; n++) {
    char option = argv[n][0] == '-' ? argv[n][1] : 0;
    int values = strchr("ol", option) ? 2 : strchr("ef", option) ? 0 : 1;
    if (n + values >= argc || place_count == PLACES_MAX) return FAILED;
    switch (option) {
      case 'u': uid = (uid_t)atoi(argv[n + 1]); break;
      case 's':
      case 'r': places[place_count++] = (struct place){.path = argv[n + 1], .is_kept = option == 'r'}; break;
      case 'w': from = argv[n + 1]; break;
      case 'o': overlay = argv[n + 1], at = argv[n + 2]; break;
      case 'e': is_empty = 1; break;
      case 'd': cwd = argv[n + 1]; break;
      case 'f': is_fence = 1; break;
      case 'l': processes = strtoul(argv[n + 1], NULL, 10), files = strtoul(argv[n + 2], NULL, 10); break;
      default: return FAILED;
    }
    n += values;
  }
  char **command = argv + n + 1;
  if (n + 1 >= argc) return FAILED;

  die_with(parent);
  close_from(is_fence ? NAMED_FILES_MAX + has_status : 3);
  if (uid != 0) {
    if (place_count > 0) {
      if (unshare(CLONE_NEWNS) < 0) fail("unshare");
      if (mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0) fail("mount");
      shadow(places, place_count);
    }
    become(uid);
    die_with(parent);
  }
  enter_namespaces();
  if (chdir(from) < 0) fail(from);
  if (overlay != NULL) {
    if (mount("overlay", at, "overlay", 0, overlay) < 0) fail("mount overlay");
    unlock_work(overlay);
  }
  if (is_fence) {
    if (!has_status && dup2(4, 5) < 0) fail("dup2");
    return hold_in_pid_namespace(NULL, command, processes, files);
  }
  if (is_empty && mount("tmpfs", cwd, "tmpfs", MS_NOSUID | MS_NODEV, "size=64m,mode=0700") < 0) fail("mount tmpfs");
  return hold_in_pid_namespace(cwd, command, 0, 0);
}

enum { ID_CHARS = 32, FREE_FILE = 10 };

struct child {
  pid_t pid;
  char id[ID_CHARS + 1];
};

/* A stream of a command: a connection to the engine, which begins with whose it is and which. */
static int connect_stream(const struct sockaddr_un *engine, const char *id, char which) {
  char hello[ID_CHARS + 3];
  int stream = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (stream < 0 || connect(stream, (const struct sockaddr *)engine, sizeof *engine) < 0) _exit(FAILED);
  int length = snprintf(hello, sizeof hello, "%s%c\n", id, which);
  if (write(stream, hello, (size_t)length) != length) _exit(FAILED);
  return fcntl(stream, F_DUPFD_CLOEXEC, FREE_FILE);
}

static int file_of(const char *content, size_t length) {
  int file = memfd_create("options", MFD_CLOEXEC);
  if (file < 0 || write(file, content, length) != (ssize_t)length || lseek(file, 0, SEEK_SET) < 0) fail("memfd");
  return fcntl(file, F_DUPFD_CLOEXEC, FREE_FILE);
}

static void become_child(const struct sockaddr_un *engine, char **parts, size_t count, const char *rest, size_t length) {
  const char *id = parts[0], *filter = parts[2];
  int has_input = strcmp(parts[1], "input") == 0, is_fence = filter[0] != 0;
  size_t words = strtoul(parts[3], NULL, 10);
  if (words == 0 || words > count - 4) _exit(FAILED);
  setsid();
  int files[6] = {-1, -1, -1, -1, -1, -1};
  files[2] = connect_stream(engine, id, '2');
  files[1] = connect_stream(engine, id, '1');
  files[0] = has_input ? connect_stream(engine, id, '0') : open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (is_fence) {
    files[3] = open(filter, O_RDONLY | O_CLOEXEC);
    if (files[3] >= 0) files[3] = fcntl(files[3], F_DUPFD_CLOEXEC, FREE_FILE);
    files[4] = file_of(rest, length);
    files[5] = connect_stream(engine, id, '5');
  }
  for (int n = 0; n < (is_fence ? 6 : 3); n++)
    if (files[n] < 0 || dup2(files[n], n) < 0) _exit(FAILED);
  char **argv = calloc(words + 1, sizeof *argv);
  if (argv == NULL) _exit(FAILED);
  memcpy(argv, parts + 4, words * sizeof *argv);
  environ = parts + 4 + words;
  _exit(start(getppid(), (int)words, argv, is_fence));
}

/* Tells of all that have ended. */
static void bury(struct child *children, size_t *count) {
  int status;
  for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG)) > 0;) {
    for (size_t n = 0; n < *count; n++) {
      if (children[n].pid != pid) continue;
      dprintf(1, "ended %s %d %d\n", children[n].id, WIFEXITED(status) ? WEXITSTATUS(status) : -1,
              WIFSIGNALED(status) ? WTERMSIG(status) : 0);
      children[n] = children[--*count];
      break;
    }
  }
}

/*
 * A message is two times ten digits: how many bytes of parts follow, and how many bytes after those. Each part is
 * ended by a zero byte: an id, "input" or "nothing", the file with the filter of system calls or nothing, the number of
 * words, the words, the environment. What comes after the parts are the options for bwrap.
 */
static int serve(int argc, char **argv) {
  struct sockaddr_un engine = {.sun_family = AF_UNIX};
  if (argc < 4) return FAILED;
  die_with(atoi(argv[2]));
  /* held open, so that it is found wherever its directory is moved to */
  int directory = open(argv[3], O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (directory < 0) fail(argv[3]);
  snprintf(engine.sun_path, sizeof engine.sun_path, "/proc/self/fd/%d/s", directory);
  sigset_t mask, before;
  sigemptyset(&mask);
  sigaddset(&mask, SIGCHLD);
  sigprocmask(SIG_BLOCK, &mask, &before);
  struct pollfd events[2] = {{0, POLLIN, 0}, {signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK), POLLIN, 0}};
  if (events[1].fd < 0) fail("signalfd");
  struct child *children = NULL;
  size_t count = 0, room = 0;
  for (;;) {
    if (poll(events, 2, -1) < 0 && errno != EINTR) fail("poll");
    if (events[1].revents) {
      char ignored[sizeof(struct signalfd_siginfo)];
      while (read(events[1].fd, ignored, sizeof ignored) > 0) continue;
      bury(children, &count);
    }
    if (!events[0].revents) continue;
    char digits[21] = {0}, first[11] = {0};
    if (read(0, digits, 1) <= 0) { /* the engine has no more use for it */
      unlinkat(directory, "s", 0);
      rmdir(argv[3]);
      return 0;
    }
    read_fully(digits + 1, 19);
    memcpy(first, digits, 10);
    size_t length = strtoul(first, NULL, 10), rest = strtoul(digits + 10, NULL, 10), parts = 0;
    char *text = malloc(length + rest + 1);
    if (text == NULL || length == 0) return FAILED;
    read_fully(text, length + rest);
    for (size_t n = 0; n < length; n++) parts += text[n] == 0;
    char **list = calloc(parts + 1, sizeof *list);
    if (list == NULL || parts < 5 || text[length - 1] != 0) return FAILED;
    char *part = text;
    for (size_t n = 0; n < parts; n++, part += strlen(part) + 1) list[n] = part;
    if (strlen(list[0]) != ID_CHARS) return FAILED;
    if (count == room) {
      room = room == 0 ? 64 : room * 2;
      children = realloc(children, room * sizeof *children);
      if (children == NULL) return FAILED;
    }
    pid_t pid = fork();
    if (pid == 0) {
      sigprocmask(SIG_SETMASK, &before, NULL);
      become_child(&engine, list, parts, text + length, rest);
    }
    if (pid > 0) {
      children[count].pid = pid;
      strcpy(children[count++].id, list[0]);
      dprintf(1, "started %s %d\n", list[0], pid);
    } else {
      dprintf(1, "refused %s %s\n", list[0], strerror(errno));
    }
    free(list);
    free(text);
  }
}

int main(int argc, char **argv) {
  if (argc >= 2 && strcmp(argv[1], "inside") == 0) return inside(argc, argv);
  if (argc >= 2 && strcmp(argv[1], "wait") == 0) await_command();
  if (argc >= 2 && strcmp(argv[1], "serve") == 0) return serve(argc, argv);
  return argc < 4 ? FAILED : start(atoi(argv[1]), argc - 2, argv + 2, 0);
}
