/**
 * The table of system calls that no fenced command gets, by their numbers on each architecture. Only data:
 * seccomp.ts makes a filter of it.
 */

export const ARCHITECTURES = ['x64', 'arm64'] as const;
export type Architecture = (typeof ARCHITECTURES)[number];

/** Number on x86-64, number on arm64; null where the architecture has no such call. */
type Numbers = readonly [number, number | null];

export const DENIED: Readonly<Record<string, Numbers>> = {
  // what would change the view of the file system
  mount: [165, 40],
  umount2: [166, 39],
  pivot_root: [155, 41],
  chroot: [161, 51],
  open_tree: [428, 428],
  move_mount: [429, 429],
  fsopen: [430, 430],
  fsconfig: [431, 431],
  fsmount: [432, 432],
  fspick: [433, 433],
  mount_setattr: [442, 442],
  open_tree_attr: [467, 467],
  open_by_handle_at: [304, 265],
  // other namespaces; unshare and clone are looked at more closely
  setns: [308, 268],
  // keys belong to the user, not to the namespace
  add_key: [248, 217],
  request_key: [249, 218],
  keyctl: [250, 219],
  // wide doors into the kernel, and help for those who attack it
  bpf: [321, 280],
  perf_event_open: [298, 241],
  userfaultfd: [323, 282],
  io_uring_setup: [425, 425],
  io_uring_enter: [426, 426],
  io_uring_register: [427, 427],
  kcmp: [312, 272],
  pidfd_getfd: [438, 438],
  lookup_dcookie: [212, 18],
  syslog: [103, 116],
  // the machine itself
  kexec_load: [246, 104],
  kexec_file_load: [320, 294],
  create_module: [174, null],
  init_module: [175, 105],
  finit_module: [313, 273],
  delete_module: [176, 106],
  get_kernel_syms: [177, null],
  query_module: [178, null],
  quotactl: [179, 60],
  quotactl_fd: [443, 443],
  nfsservctl: [180, 42],
  acct: [163, 89],
  swapon: [167, 224],
  swapoff: [168, 225],
  reboot: [169, 142],
  sethostname: [170, 161],
  setdomainname: [171, 162],
  vhangup: [153, 58],
  iopl: [172, null],
  ioperm: [173, null],
  settimeofday: [164, 170],
  clock_settime: [227, 112],
  clock_adjtime: [305, 266],
  adjtimex: [159, 171],
};

/**
 * Those that seem to be missing, because programs do without them: clone3, openat2 and setxattrat, whose arguments lie
 * in memory that no filter can read, and ways to memory that no process has on its account: rules of Landlock, what a
 * descriptor holds on its way to somebody else, or a pipe: a page that vmsplice puts there may be two megabytes large.
 */
export const ABSENT: Readonly<Record<string, Numbers>> = {
  clone3: [435, 435],
  openat2: [437, 437],
  setxattrat: [463, 463],
  landlock_create_ruleset: [444, 444],
  landlock_add_rule: [445, 445],
  landlock_restrict_self: [446, 446],
  memfd_create: [319, 279],
  memfd_secret: [447, 447],
  msgget: [68, 186],
  vmsplice: [278, 75],
};

/** Those whose arguments decide. */
export const EXAMINED = {
  clone: [56, 220],
  unshare: [272, 97],
  personality: [135, 92],
  socket: [41, 198],
  socketpair: [53, 199],
  ioctl: [16, 29],
  fcntl: [72, 25],
  setsockopt: [54, 208],
  prctl: [157, 167],
  setxattr: [188, 5],
  lsetxattr: [189, 6],
  fsetxattr: [190, 7],
  shmget: [29, 194],
  semget: [64, 190],
  fallocate: [285, 47],
  close_range: [436, 436],
  open: [2, null],
  openat: [257, 56],
  creat: [85, null],
  mknod: [133, null],
  mknodat: [259, 33],
  chmod: [90, null],
  fchmod: [91, 52],
  fchmodat: [268, 53],
  fchmodat2: [452, 452],
} as const satisfies Record<string, Numbers>;

/** From here on nobody knew what a number would mean when this table was written. */
export const UNKNOWN_FROM = 470;
