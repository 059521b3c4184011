/** What runs inside the sandbox so that programs find the proxy where they look for one: on a port of loopback. */

/** Where the sandbox shows the attempt's socket. */
const EGRESS_SOCKET = '/run/bosun/egress.sock';
const EGRESS_PORT = 3128;

/** The command never ran: its way to the network could not be opened. */
export const BRIDGE_FAILED = 125;

/** Each takes a few milliseconds; on an idle machine socat listens after two or three. */
const TRIES_MAX = 5000;

/**
 * socat gets a session of its own, so that signals to the command's group pass it by, and is nobody's child, so
 * that a command which waits for all its children does not wait for it; it ends with the sandbox,
 * whose init must die with its parent (bwrap --die-with-parent), else it would wait for socat. Whether it
 * listens is read from the kernel's table: no connection is spent on finding out.
 */
const SCRIPT = `
listens() {
  while read -r _ local _ state _; do
    case "$local $state" in *:"$1 0A") return 0 ;; esac
  done < /proc/net/tcp
  return 1
}
(
  setsid socat "TCP-LISTEN:$2,bind=127.0.0.1,reuseaddr,fork,backlog=128" "UNIX-CONNECT:$3" </dev/null >/dev/null 2>&1 &
  tries=0
  until listens "$1"; do
    tries=$((tries + 1))
    [ "$tries" -lt ${TRIES_MAX} ] && kill -0 "$!" 2>/dev/null || exit 1
    sleep 0.002
  done
) || {
  echo "bosun: socat could not open the way to the network on port $2; is it installed, and the port free?" >&2
  exit ${BRIDGE_FAILED}
}
shift 3
exec "$@"
`;

/** The command line that opens the bridge and then becomes the command, with its exit code and signals. */
export function bridged(argv: readonly string[], port = EGRESS_PORT): string[] {
  const hex = port.toString(16).toUpperCase().padStart(4, '0');
  return ['/bin/sh', '-c', SCRIPT, 'bosun', hex, String(port), EGRESS_SOCKET, ...argv];
}

/** What makes programs use it. Loopback is the sandbox's own, so it is never asked of the proxy. */
export function proxyEnvironment(port = EGRESS_PORT): Record<string, string> {
  const proxy = `http://127.0.0.1:${port}`;
  const direct = 'localhost,127.0.0.1,::1';
  return {
    HTTP_PROXY: proxy,
    HTTPS_PROXY: proxy,
    ALL_PROXY: proxy,
    NO_PROXY: direct,
    http_proxy: proxy,
    https_proxy: proxy,
    all_proxy: proxy,
    no_proxy: direct,
    NODE_USE_ENV_PROXY: '1',
  };
}
