/** What runs inside the sandbox so that programs find the proxy where they look for one: on a port of loopback. */

/** A port of loopback, and the socket it leads to, as the sandbox shows it. */
interface Bridge {
  port: number;
  socket: string;
}

export const EGRESS: Bridge = { port: 3128, socket: '/run/bosun/egress.sock' };
export const GATEWAY: Bridge = { port: 4180, socket: '/run/bosun/gateway.sock' };

/** The command never ran: its way to the network could not be opened. */
export const BRIDGE_FAILED = 125;

/** Each takes a few milliseconds; on an idle machine socat listens after two or three. */
const TRIES_MAX = 5000;
/** How often socat is started again where it was killed (137); where it ends by itself, it cannot do its work. */
const AGAIN_MAX = 3;

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
keep='n=0; until socat "$@"; [ $? -ne 137 ] || [ $((n += 1)) -gt ${AGAIN_MAX} ]; do sleep 0.05; done'
count=$1; shift
n=0 pids=
for each in "$@"; do
  [ "$n" -lt "$count" ] || break
  n=$((n + 1))
  pids="$pids $(setsid /bin/sh -c "$keep" sh "TCP-LISTEN:\${each%%:*},bind=127.0.0.1,reuseaddr,fork,backlog=128" "UNIX-CONNECT:\${each#*:}" </dev/null >/dev/null 2>&1 & echo $!)"
done
for pid in $pids; do
  port=\${1%%:*}; shift
  hex=$(printf %04X "$port")
  tries=0
  until listens "$hex"; do
    tries=$((tries + 1))
    [ "$tries" -lt ${TRIES_MAX} ] && kill -0 "$pid" 2>/dev/null || {
      echo "bosun: socat could not open the way to the network on port $port; is it installed, and the port free?" >&2
      exit ${BRIDGE_FAILED}
    }
    sleep 0.002
  done
done
exec "$@"
`;

/** The command line that opens the bridges and then becomes the command, with its exit code and signals. */
export function bridged(argv: readonly string[], bridges: readonly Bridge[] = [EGRESS]): string[] {
  const words = bridges.map(({ port, socket }) => `${port}:${socket}`);
  return ['/bin/sh', '-c', SCRIPT, 'bosun', String(bridges.length), ...words, ...argv];
}

/** What makes programs use it. Loopback is the sandbox's own, so it is never asked of the proxy. */
export function proxyEnvironment(port = EGRESS.port): Record<string, string> {
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
