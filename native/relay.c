/*
 * Leads connections of a unix socket to a port of a running sandbox's own loopback, until its stdin ends.
 *
 *   relay [-u UID] PID START_TICKS PORT DIRECTORY NAME
 *
 * The socket is DIRECTORY/NAME, made by whoever calls, who alone may connect. PID is a process of the sandbox and
 * START_TICKS its start as in /proc/PID/stat: the number alone may be somebody else's by now. With -u it becomes the user
 * that the sandbox belongs to, once the socket is there. Then it enters the sandbox's network, gives up every
 * privilege, says "ready" on stdout, and carries bytes. It reads none of them, and starts nothing.
 *
 * Each connection gets one byte first: 0 when it has reached the port, else why not (see `enum told`). Both directions
 * have a small buffer each: who does not read is not read from. A direction that ends is ended on the other side too.
 */
#define _GNU_SOURCE
#include <linux/capability.h>
#include <linux/nsfs.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include "sandbox.h"

/* Not in the headers of every system that has it in its kernel. */
#ifndef SYS_close_range
#define SYS_close_range 436
#endif

enum { CONNECTIONS_MAX = 256, BUFFER_BYTES = 32 * 1024, BACKLOG = 4096, CONNECT_SECONDS_MAX = 10, REST_MS = 100 };
enum told { REACHED = 0, NOBODY_LISTENS = 1, TOO_MANY = 2, NO_ANSWER = 3 };

/* What came from one side and has not gone to the other. */
struct flow {
  size_t from, to;
  int has_ended;  /* nothing more comes */
  int is_shut;    /* and the other side was told */
  char *bytes;
};

struct connection {
  int outside, inside; /* -1: none */
  int is_connecting, is_v6;
  int is_gone; /* nobody is outside any more; what was said before still goes in */
  time_t since;
  struct flow in, out; /* to the sandbox; out of it */
};

static struct connection connections[CONNECTIONS_MAX];
static int port;

static void enter(const char *pid, const char *start) {
  int process = open_process(pid, start);
  int network = checked(openat(process, "ns/net", O_RDONLY | O_CLOEXEC), "its network");
  struct stat its, ours;
  checked(fstat(network, &its), "its network");
  if (stat("/proc/self/ns/net", &ours) == 0 && its.st_dev == ours.st_dev && its.st_ino == ours.st_ino) {
    errno = EXDEV;
    fail("it has no network of its own"); /* its ports would be those of the machine */
  }
  int owner = checked(ioctl(network, NS_GET_USERNS), "the owner of its network");
  checked(setns(owner, CLONE_NEWUSER), "entering its user namespace");
  checked(setns(network, CLONE_NEWNET), "entering its network");
  close(network);
  close(owner);
  close(process);
}

/* All that is left to do is to connect and to carry. */
static void give_up_privileges(void) {
  struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
  struct __user_cap_data_struct none[2] = {0};
  checked(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs");
  checked((int)syscall(SYS_capset, &head, none), "capset");
  checked(chdir("/"), "chdir");
}

static int listen_at(const char *directory, const char *name) {
  struct sockaddr_un at = {.sun_family = AF_UNIX};
  if (strchr(name, '/') != NULL || strlen(name) >= sizeof at.sun_path) {
    errno = EINVAL;
    fail("the name of its socket");
  }
  strcpy(at.sun_path, name);
  checked(chdir(directory), "the directory of its socket"); /* relative: a path may be longer than the kernel takes */
  umask(0177);
  int listener = checked(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), "socket");
  if (unlink(name) < 0 && errno != ENOENT) fail("an earlier socket");
  checked(bind(listener, (struct sockaddr *)&at, sizeof at), "bind");
  checked(listen(listener, BACKLOG), "listen");
  return listener;
}

static void drop(struct connection *one) {
  if (one->inside >= 0) close(one->inside);
  if (one->outside >= 0) close(one->outside);
  free(one->in.bytes);
  free(one->out.bytes);
  *one = (struct connection){.inside = -1, .outside = -1};
}

static void tell(int outside, enum told what) {
  char byte = (char)what;
  if (send(outside, &byte, 1, MSG_NOSIGNAL | MSG_DONTWAIT) < 0) return; /* gone: its close is seen later */
}

static void refuse(struct connection *one, enum told why) {
  tell(one->outside, why);
  drop(one);
}

static void reached(struct connection *one) {
  int on = 1;
  setsockopt(one->inside, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  one->is_connecting = 0;
  one->in.bytes = malloc(BUFFER_BYTES);
  one->out.bytes = malloc(BUFFER_BYTES);
  if (one->in.bytes == NULL || one->out.bytes == NULL) return refuse(one, TOO_MANY);
  tell(one->outside, REACHED);
}

/* Some programs listen on one of the two loopbacks alone: 127.0.0.1 first, then ::1. */
static void reach(struct connection *one) {
  for (;;) {
    struct sockaddr_in v4 = {
        .sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct sockaddr_in6 v6 = {
        .sin6_family = AF_INET6, .sin6_port = htons((uint16_t)port), .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    one->inside =
        socket(one->is_v6 ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, IPPROTO_TCP);
    if (one->inside < 0) return refuse(one, one->is_v6 ? NOBODY_LISTENS : TOO_MANY);
    int result = one->is_v6 ? connect(one->inside, (struct sockaddr *)&v6, sizeof v6)
                            : connect(one->inside, (struct sockaddr *)&v4, sizeof v4);
    if (result == 0) return reached(one);
    if (errno == EINPROGRESS) {
      one->is_connecting = 1;
      return;
    }
    close(one->inside);
    one->inside = -1;
    if (one->is_v6) return refuse(one, NOBODY_LISTENS);
    one->is_v6 = 1;
  }
}

static void connected(struct connection *one) {
  int why = 0;
  socklen_t size = sizeof why;
  if (getsockopt(one->inside, SOL_SOCKET, SO_ERROR, &why, &size) < 0) why = errno;
  if (why == 0) return reached(one);
  close(one->inside);
  one->inside = -1;
  if (one->is_v6) return refuse(one, NOBODY_LISTENS);
  one->is_v6 = 1;
  reach(one);
}

static struct connection *unused(void) {
  for (int n = 0; n < CONNECTIONS_MAX; n++)
    if (connections[n].outside < 0) return &connections[n];
  return NULL;
}

/* Two for each connection; a few of our own. What may not be had is done without: see `take_new`. */
static void raise_descriptors(void) {
  rlim_t needed = 2 * CONNECTIONS_MAX + 16;
  struct rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur >= needed) return;
  limit.rlim_cur = limit.rlim_max < needed ? limit.rlim_max : needed;
  setrlimit(RLIMIT_NOFILE, &limit);
}

/* False where somebody waits who cannot be taken now: no descriptor or no memory is left. */
static int take_new(int listener) {
  for (int n = 0; n < BACKLOG; n++) {
    int outside = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (outside < 0) return errno == EAGAIN || errno == EINTR || errno == ECONNABORTED;
    struct connection *one = unused();
    if (one == NULL) {
      tell(outside, TOO_MANY);
      close(outside);
      continue;
    }
    one->outside = outside;
    one->since = time(NULL);
    reach(one);
  }
  return 1;
}

static int is_full(const struct flow *flow) { return flow->to == BUFFER_BYTES; }
static int is_empty(const struct flow *flow) { return flow->from == flow->to; }

/* What comes from a side that is broken has ended. */
static void fill(struct flow *flow, int from) {
  if (flow->has_ended || is_full(flow)) return;
  ssize_t count = recv(from, flow->bytes + flow->to, BUFFER_BYTES - flow->to, 0);
  if (count > 0) flow->to += (size_t)count;
  else if (count == 0 || (errno != EAGAIN && errno != EINTR)) flow->has_ended = 1;
}

/* What a side that is broken was to get is lost. */
static void empty(struct flow *flow, int to) {
  if (flow->is_shut) return;
  if (!is_empty(flow)) {
    ssize_t count = send(to, flow->bytes + flow->from, flow->to - flow->from, MSG_NOSIGNAL);
    if (count > 0) flow->from += (size_t)count;
    else if (count < 0 && errno != EAGAIN && errno != EINTR) {
      flow->has_ended = 1;
      flow->from = flow->to;
    }
  }
  if (!is_empty(flow)) return;
  flow->from = flow->to = 0;
  if (!flow->has_ended) return;
  flow->is_shut = 1;
  shutdown(to, SHUT_WR);
}

static short wanted(const struct flow *comes, const struct flow *goes) {
  return (short)((!comes->has_ended && !is_full(comes) ? POLLIN : 0) | (!is_empty(goes) ? POLLOUT : 0));
}

static short wanted_outside(const struct connection *one) {
  short events = wanted(&one->in, &one->out);
  return one->is_gone ? events & POLLIN : events;
}

static short wanted_inside(const struct connection *one) {
  short events = wanted(&one->out, &one->in);
  return one->is_gone ? events & POLLOUT : events;
}

/* False where nothing is left to carry. */
static int carry(struct connection *one, short outside, short inside) {
  enum { COMES = POLLIN | POLLHUP | POLLERR | POLLNVAL };
  if (outside & (POLLHUP | POLLERR | POLLNVAL)) one->is_gone = 1;
  if (outside & COMES) fill(&one->in, one->outside);
  if (inside & COMES) fill(&one->out, one->inside);
  empty(&one->in, one->inside);
  if (one->is_gone) return !one->in.is_shut;
  empty(&one->out, one->outside);
  return !(one->in.is_shut && one->out.is_shut);
}

static void serve(int listener) {
  static struct pollfd polled[2 + 2 * CONNECTIONS_MAX];
  static struct connection *whose[2 + 2 * CONNECTIONS_MAX];
  int is_resting = 0; /* whoever waits at the listener would wake us again and again */
  for (;;) {
    nfds_t count = 2;
    int is_waiting = 0;
    polled[0] = (struct pollfd){.fd = STDIN_FILENO, .events = POLLIN};
    polled[1] = (struct pollfd){.fd = is_resting ? -1 : listener, .events = POLLIN};
    for (int n = 0; n < CONNECTIONS_MAX; n++) {
      struct connection *one = &connections[n];
      if (one->outside < 0) continue;
      is_waiting |= one->is_connecting;
      whose[count] = one;
      polled[count++] = (struct pollfd){.fd = one->outside, .events = one->is_connecting ? 0 : wanted_outside(one)};
      polled[count++] =
          (struct pollfd){.fd = one->inside, .events = one->is_connecting ? POLLOUT : wanted_inside(one)};
      /* What is over for good would be reported again and again: a negative number is passed over. */
      for (nfds_t at = count - 2; at < count; at++)
        if (polled[at].events == 0 && (at == count - 1 || one->is_gone)) polled[at].fd = -1;
    }
    if (poll(polled, count, is_resting ? REST_MS : is_waiting ? 1000 : -1) < 0) {
      if (errno == EINTR) continue;
      fail("poll");
    }
    if (polled[0].revents != 0) {
      char ignored[256];
      if (read(STDIN_FILENO, ignored, sizeof ignored) <= 0) return;
    }
    for (nfds_t at = 2; at < count; at += 2) {
      struct connection *one = whose[at];
      short outside = polled[at].revents, inside = polled[at + 1].revents;
      if (!one->is_connecting) {
        if ((outside | inside) != 0 && !carry(one, outside, inside)) drop(one);
      } else if (outside & (POLLHUP | POLLERR)) {
        drop(one);
      } else if (inside != 0) {
        connected(one);
      } else if (time(NULL) - one->since > CONNECT_SECONDS_MAX) {
        refuse(one, NO_ANSWER);
      }
    }
    if (is_resting || polled[1].revents != 0) is_resting = !take_new(listener);
  }
}

int main(int argc, char **argv) {
  int at = 1;
  const char *uid = NULL;
  if (argc > 2 && strcmp(argv[1], "-u") == 0) {
    uid = argv[2];
    at = 3;
  }
  port = argc - at == 5 ? atoi(argv[at + 2]) : 0;
  if (port < 1 || port > 65535) {
    dprintf(2, "usage: relay [-u UID] PID START_TICKS PORT DIRECTORY NAME\n");
    return 1;
  }
  syscall(SYS_close_range, 3, ~0U, 0); /* whatever was left to us: not every kernel can, and nothing depends on it */
  for (int n = 0; n < CONNECTIONS_MAX; n++) connections[n].inside = connections[n].outside = -1;
  signal(SIGPIPE, SIG_IGN);
  raise_descriptors();
  int listener = listen_at(argv[at + 3], argv[at + 4]);
  if (uid != NULL) become(uid);
  enter(argv[at], argv[at + 1]);
  give_up_privileges();
  if (write(STDOUT_FILENO, "ready\n", 6) != 6) return 1;
  serve(listener);
  return 0;
}
