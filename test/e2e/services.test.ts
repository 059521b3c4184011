/** Ports of agents that others reach by name: in real fences, with real servers and clients, and a person's `bosun open`. */
import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { Bosun } from '../../src/index.ts';
import type { EventOf } from '../../src/contract/event.ts';
import { bosun, start } from '../fixtures/cli.ts';
import { processesWith, runFenced, startFenced, told, type Told } from '../fixtures/fenced-run.ts';
import { makeRepository } from '../fixtures/repository.ts';

/** Says what it is asked; `/gone` leads elsewhere, a WebSocket is an echo, and port 3001 is one of plain bytes. */
const SERVER = `
import { execFile } from 'node:child_process';
import { createServer } from 'node:http';
import { createServer as tcp } from 'node:net';
const web = createServer((asked, answer) => {
  if (asked.url.startsWith('/stop'))
    return execFile('bosun', ['agent', 'serve', '--name', 'brief', '--stop'], () => answer.end('stopped'));
  if (asked.url === '/gone') return answer.writeHead(302, { Location: 'http://169.254.169.254/' }).end();
  let body = '';
  asked.on('data', (chunk) => (body += chunk)).on('end', () =>
    answer.end([asked.method, asked.url, asked.headers.host, body].join(' ').trim() + '\\n'));
});
web.on('upgrade', (asked, socket, head) => {
  socket.write('HTTP/1.1 101 Switching Protocols\\r\\nConnection: Upgrade\\r\\nUpgrade: websocket\\r\\n\\r\\n' + asked.url + '\\n');
  socket.write(head);
  socket.pipe(socket);
});
web.listen(3000, '127.0.0.1');
tcp({ allowHalfOpen: true }, (socket) => socket.pipe(socket)).listen(3001, '::1');
`;
/** Says a head to the proxy, then some bytes, and prints what comes until these are back. */
const RAW = `
import { connect } from 'node:net';
const [head, bytes] = process.argv.slice(2);
const socket = connect(3128, '127.0.0.1');
let said = '', isSent = false;
socket.write(head.replaceAll('|', '\\r\\n') + '\\r\\n\\r\\n');
socket.on('data', (chunk) => {
  said += chunk;
  if (!isSent && said.includes('\\r\\n\\r\\n')) isSent = socket.write(bytes + '\\n') || true;
  if (isSent && said.endsWith(bytes + '\\n')) socket.destroy();
}).on('close', () => console.log(said.replaceAll('\\r', '').trim()));
`;
const FILES = { 'README.md': 'hello\n', 'server.mjs': SERVER, 'raw.mjs': RAW };
const LISTENS =
  'until grep -q ":0BB8 .* 0A " /proc/net/tcp && grep -q ":0BB9 .* 0A " /proc/net/tcp6; do sleep 0.05; done';
/** Serves until somebody says that it is enough. */
const SERVING = `node server.mjs & ${LISTENS}
      bosun agent serve 3000 --name web --json; bosun agent serve 3001 --name echo`;
const UNTIL_TOLD = 'bosun agent wait-for message --timeout 9m > /dev/null';
/** Until three others have said that they are done. */
const told3 =
  'n=0; while [ $n -lt 4 ]; do n=$((n + $(bosun agent inbox --wait 60s --json | grep -o from | wc -l))); done';
const OTHER = `name: other
tasks:
  ask: { scope: { network: ['*.bosun'] }, run: 'curl -sS http://web.bosun/other' }
`;
/** Calls of a tool as any program could make them; a line for each answer. */
const RPC = `
import { connect } from 'node:net';
const [method, ...texts] = process.argv.slice(2);
for (const params of texts.flatMap((text) => JSON.parse(text))) {
  const socket = connect('/run/bosun/agent.sock');
  socket.write(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }) + '\\n');
  const [line] = await new Promise((resolve) => socket.once('data', (chunk) => resolve([String(chunk)])));
  socket.destroy();
  const { error, result } = JSON.parse(line);
  console.log(error ? error.message : JSON.stringify(result));
}
`;
const ANSWER = `
while read -r line && [ \${#line} -gt 1 ]; do :; done
printf 'HTTP/1.0 200 OK\\r\\n\\r\\n%s\\n' "$N"
`;
/** More tunnels than it may have, to which it listens no more once it has one. */
const FLOOD = `
import { connect } from 'node:net';
const answers = {};
const all = Array.from({ length: 100 }, () => new Promise((resolve) => {
  const socket = connect(3128, '127.0.0.1');
  socket.write('CONNECT echo.bosun:80 HTTP/1.1\\r\\n\\r\\n');
  socket.once('data', (chunk) => {
    const status = String(chunk).split(' ')[1];
    answers[status] = (answers[status] ?? 0) + 1;
    socket.pause();
    if (status === '200') socket.write(Buffer.alloc(1_000_000));
    resolve();
  });
}));
await Promise.all(all);
console.log(JSON.stringify(answers));
const { execFileSync } = await import('node:child_process');
execFileSync('bosun', ['agent', 'send', 'honest', 'flooded']);
execFileSync('bosun', ['agent', 'wait-for', 'end', 'honest', '--timeout', '60s']);
process.exit();
`;

function gone({ events }: Told): string[] {
  return events
    .filter((event): event is EventOf<'service.gone'> => event.type === 'service.gone')
    .map(({ task, name }) => `${task} ${name}`);
}

describe('a service', () => {
  it('is reached by name: requests, WebSockets and plain bytes, before, while and after it is there', async () => {
    await using repository = await makeRepository({ files: FILES });
    const run = await runFenced(
      repository,
      `tasks:
  server:
    run: |
      exec 2>&1
      bosun agent inbox --wait 30s > /dev/null
      ${SERVING}
      ${UNTIL_TOLD}; bosun agent serve --name echo --stop
      bosun agent inbox > /dev/null; bosun agent send client next; ${UNTIL_TOLD}
  client:
    scope: { network: [web.bosun, echo.bosun] }
    run: |
      exec 2>&1; ask() { curl -sS "$@" || echo "curl $?"; }
      ask -w '%{http_code}\\n' http://web.bosun/early; bosun agent send server go > /dev/null
      bosun agent wait-for service echo
      ask http://web.bosun/a?b=c -d body; ask http://WEB.bosun.:3000/; ask -p http://web.bosun/tunnel
      ask http://web.bosun:3001/; ask http://bosun/; ask http://a.web.bosun/; ask http://wev.bosun/
      ask -L -m 20 http://web.bosun/gone
      node raw.mjs 'GET http://web.bosun/socket HTTP/1.1|Host: web.bosun|Connection: Upgrade|Upgrade: websocket' ping
      node raw.mjs 'CONNECT echo.bosun:3001 HTTP/1.1' 'plain bytes'
      bosun agent send server enough; bosun agent wait-for message
      ask http://echo.bosun/
      bosun agent send server enough; bosun agent wait-for end server
      ask http://web.bosun/late
`,
    );
    expect(
      run
        .printed('client')
        .split('\n')
        .filter((line) => line !== '' && !line.startsWith('1 message waits')),
    ).toEqual([
      'bosun: cannot reach web.bosun: no task serves it now; wait for it with: bosun agent wait-for service web',
      '502',
      'server serves echo at http://echo.bosun',
      'POST /a?b=c web.bosun body',
      'GET / web.bosun:3000',
      'GET /tunnel web.bosun',
      'bosun: cannot reach web.bosun:3001: server serves its port 3000 under that name; ask for web.bosun or web.bosun:3000',
      'bosun: bosun:80 is denied: that is not a service name; use a-z, 0-9 and -, at most 63 characters, such as "web"',
      'bosun: a.web.bosun:80 is denied: that is not a service name; use a-z, 0-9 and -, at most 63 characters, such as "web"',
      expect.stringMatching(/wev.bosun: no task serves it now.*web.bosun/),
      // Whoever follows a redirect is held as if it had asked there.
      expect.stringMatching(/^bosun: 169.254.169.254:80 is denied/),
      'HTTP/1.1 101 Switching Protocols',
      'Connection: Upgrade',
      'Upgrade: websocket',
      '/socket',
      'ping',
      'HTTP/1.1 200 Connection Established',
      'plain bytes',
      'sent client+m2 to server',
      'a message from server waits; call inbox',
      expect.stringMatching(/^bosun: cannot reach echo.bosun: .*server served it: its agent ended it/),
      'sent client+m3 to server',
      'server has ended (done)',
      expect.stringMatching(/^bosun: cannot reach web.bosun: .*server served it: its agent has ended/),
    ]);
    expect(run.printed('server').split('\n')[0]).toBe(
      '{"name":"web","port":3000,"url":"http://web.bosun","isNew":true,"isListening":true}',
    );
    expect(run.code).toBe(0);
    expect(gone(run)).toEqual(['server echo', 'server web']);
    expect(readdirSync(path.join(repository.path, '.git/bosun/runs/fenced-1'))).not.toContain('services');
    const { stdout } = await bosun(repository.path, 'logs');
    expect(stdout).toContain('serves web: http://web.bosun is its port 3000');
    expect(stdout).toContain('serves echo no longer: its agent ended it');
    expect(processesWith(`${repository.path}/.git/bosun/runs`, 'command line')).toEqual([]);
  }, 120_000);

  it('is for those who need the task or are named with it, and for nobody of another run', async () => {
    await using repository = await makeRepository({ files: { ...FILES, 'other.yaml': OTHER } });
    await using started = await startFenced(
      repository,
      `agents:
  asker: { runtime: cli, command: [sh, -c, 'curl -sS http://web.bosun/child; bosun agent send parent child'] }
tasks:
  server:
    publishes: [spec]
    run: |
      ${SERVING}
      bosun agent publish spec --value ready
      bosun agent spawn --agent asker ask
      ${told3}
  builder:
    needs: ['api:spec']
    run: curl -sS http://web.bosun/needs; bosun agent send server builder
  stranger:
    scope: { network: [example.invalid] }
    run: |
      bosun agent wait-for service web; echo "waited $?"; curl -sS http://web.bosun/stranger
      bosun agent send server stranger
  fenced:
    run: |
      exec 2>&1; bosun agent wait-for service web; curl -sS http://web.bosun/fenced
      bosun agent send server fenced
`,
    );
    await started.prints('"service.announced"');
    const other = await bosun(repository.path, 'run', 'other.yaml', '--json');
    const run = told(await started.finished);
    expect(told(other).printed('ask')).toMatch(/^bosun: cannot reach web.bosun: no task serves it now/);
    expect(run.printed('builder')).toContain('GET /needs web.bosun\n');
    expect(run.printed('server/child-1')).toContain('GET /child web.bosun\n');
    const why = 'it is a service of server, which your task does not need';
    const remedy = 'to allow it, add "web.bosun" to scope.network';
    expect(run.printed('stranger')).toContain(
      `you may not reach web: ${why}; ${remedy}\nwaited 1\nbosun: web.bosun:80 is denied: ${why}; ${remedy}\n`,
    );
    expect(run.events).toContainEqual(
      expect.objectContaining({ type: 'attempt.denied', task: 'stranger', host: 'web.bosun', why }),
    );
    expect(run.printed('fenced')).toMatch(
      /^you may not reach web: your task started without a way to services; .*add "web.bosun" to scope.network\n/,
    );
    expect(run.printed('fenced')).toContain('Could not resolve host: web.bosun');
    expect(run.code).toBe(0);
  }, 120_000);

  it('may come after the publication that the task started from', async () => {
    await using repository = await makeRepository({ files: FILES });
    const server = `bosun agent publish spec; bosun agent inbox --wait 60s; bosun agent inbox --acknowledge
      ${SERVING}; ${UNTIL_TOLD}`;
    const builder = 'bosun agent send server started; bosun agent wait-for service web && curl -sS http://web.bosun/later; bosun agent send server done'; // prettier-ignore
    const tasks = `  server:\n    publishes: [spec]\n    run: |\n      ${server}\n  builder: { needs: ['api:spec'], run: '${builder}' }\n`;
    const run = await runFenced(repository, `tasks:\n${tasks}`);
    expect(run.printed('builder')).toContain('server serves web at http://web.bosun\nGET /later web.bosun\n');
  }, 60_000);

  it('is reached by a task whose sandbox was made ahead of it', async () => {
    await using repository = await makeRepository({ files: FILES });
    const run = await runFenced(
      repository,
      `concurrency: 1
tasks:
  server:
    publishes: [spec]
    run: |
      bosun agent publish spec --value early
      sleep 1
      ${SERVING}
      ${UNTIL_TOLD}
  builder:
    needs: ['api:spec']
    run: curl -sS http://web.bosun/ahead; bosun agent send server done
`,
    );
    expect(run.printed('builder')).toContain('GET /ahead web.bosun\n');
  }, 60_000);

  it('has a name that is a name, of one task at a time, and there are not too many', async () => {
    await using repository = await makeRepository({ files: { ...FILES, 'rpc.mjs': RPC } });
    const wrong = ['../x', 'a/b', '', 'Web', 'web.', '-a', 'a\u001b[2J', 'a\nb', 'a\0', 'x'.repeat(64)];
    const names = JSON.stringify(wrong.map((name) => ({ name, port: 3000 })));
    const ports = JSON.stringify([0, 65_536, 3.5, '80'].map((port) => ({ name: 'web', port })));
    const many = JSON.stringify(Array.from({ length: 17 }, (_, n) => ({ name: `s${n}`, port: 3000 })));
    const run = await runFenced(
      repository,
      `tasks:
  first:
    run: |
      exec 2>&1
      node rpc.mjs serve '${names}'; echo ports; node rpc.mjs serve '${ports}' '[{"name":"web"}]'; echo names
      bosun agent serve 3000 --name web; bosun agent serve 3000 --name web --json
      bosun agent serve 4000 --name web; bosun agent serve --name other --stop
      bosun agent send second there; ${UNTIL_TOLD}
      bosun agent serve --name web --stop; bosun agent serve 1 --name second; bosun agent inbox > /dev/null
      bosun agent send second gone; ${UNTIL_TOLD}
  second:
    run: |
      exec 2>&1; ${UNTIL_TOLD}
      bosun agent serve 3000 --name web; bosun agent send first refused > /dev/null
      bosun agent inbox > /dev/null; ${UNTIL_TOLD}
      bosun agent serve 3000 --name web 2>/dev/null; node rpc.mjs serve '${many}'
      bosun agent send first enough > /dev/null
    check: bosun agent serve 3000 --name web || test $? = 2
`,
    );
    const [names_, rest] = run.printed('first').split('ports\n');
    const lines = names_!.trim().split('\n');
    expect(lines).toHaveLength(wrong.length);
    for (const line of lines) expect(line).toMatch(/is not a service name: use a-z/);
    expect(names_).not.toMatch(/\p{Cc}(?<!\n)/u);
    const [ports_, more] = rest!.split('names\n');
    expect(ports_!.trim().split('\n')).toHaveLength(5);
    expect(ports_).not.toContain('"url"');
    expect(more!.split('\n').filter((line) => !line.includes('wait'))).toEqual(
      expect.arrayContaining([
        'http://web.bosun is your port 3000',
        'nothing listens on 127.0.0.1:3000 yet: start your server',
        '{"name":"web","port":3000,"url":"http://web.bosun","isNew":false,"isListening":false}',
        expect.stringMatching(/you serve your port 3000 as web; end that first/),
        expect.stringMatching(/you serve no other/),
        'web.bosun is gone',
      ]),
    );
    const second = run.printed('second');
    expect(second).toContain('first serves web already; use another name');
    expect(second).toContain('http://web.bosun is your port 3000');
    // One of its sixteen is web.
    expect(second.match(/^\{"name":"s\d+"/gm)).toHaveLength(15);
    expect(second.match(/^you serve 16 ports/gm)).toHaveLength(2);
    expect(second).toContain('only an agent at work can serve, not its check');
    expect(run.code).toBe(0);
  }, 120_000);

  it('is not kept from others by one who floods it, and never reads', async () => {
    await using repository = await makeRepository({ files: { ...FILES, 'flood.mjs': FLOOD } });
    const run = await runFenced(
      repository,
      `tasks:
  server:
    run: |
      ${SERVING}
      until [ "$(bosun agent inbox --wait 60s --json | grep -c enough)" = 1 ]; do :; done
  flood:
    scope: { network: ['*.bosun'] }
    run: bosun agent wait-for service echo; node flood.mjs; bosun agent wait-for end honest
  honest:
    scope: { network: ['*.bosun'] }
    run: |
      bosun agent wait-for message flood
      for n in 1 2 3; do node raw.mjs 'CONNECT echo.bosun:80 HTTP/1.1' "bytes $n"; done
      bosun agent send server enough
`,
    );
    expect(run.printed('flood')).toContain('{"200":64,"503":36}');
    for (const n of [1, 2, 3]) expect(run.printed('honest')).toContain(`bytes ${n}\n`);
    expect(run.code).toBe(0);
  }, 120_000);

  it('is port 3000 of fifty agents at once, each its own', async () => {
    await using repository = await makeRepository({
      files: { 'rpc.mjs': RPC, 'answer.sh': ANSWER },
    });
    const numbers = Array.from({ length: 50 }, (_, n) => n + 1);
    const rpc = `'{"jsonrpc":"2.0","id":1,"method":"serve","params":{"port":3000,"name":"%s"}}\\n'`;
    const run = await runFenced(
      repository,
      `concurrency: 60
tasks:
  agent:
    for-each: [${numbers.join(', ')}]
    env: { N: 'a\${{ each }}' }
    run: |
      socat TCP-LISTEN:3000,bind=127.0.0.1 EXEC:'sh answer.sh' &
      printf ${rpc} "$N" | socat -t 30 - UNIX-CONNECT:/run/bosun/agent.sock > /dev/null
      wait
  asker:
    scope: { network: ['*.bosun'] }
    run: |
      node rpc.mjs wait_for '${JSON.stringify(numbers.map((n) => ({ for: 'service', name: `a${n}` })))}' > /dev/null
      for n in ${numbers.join(' ')}; do curl -sS http://a$n.bosun/; done
`,
    );
    expect(run.printed('asker')).toBe(numbers.map((n) => `a${n}\n`).join(''));
    expect(run.code).toBe(0);
    expect(run.events.filter(({ type }) => type === 'service.announced')).toHaveLength(50);
  }, 60_000);
});

describe('bosun open', () => {
  it('leads a person to a service of a run that another process drives, and no page from elsewhere', async () => {
    await using repository = await makeRepository({ files: FILES });
    await using run = await startFenced(
      repository,
      `tasks:
  server:
    run: |
      ${SERVING}
      bosun agent serve 3000 --name brief; sleep 600
`,
    );
    await run.prints('"name":"brief"');
    const { path: at } = repository;
    const status = await bosun(at, 'status');
    expect(status.stdout).toMatch(/server .*serves web, echo, brief/);
    expect(await bosun(at, 'open', 'wed')).toMatchObject({ code: 2, stderr: expect.stringMatching(/did you mean "web"/) as string }); // prettier-ignore
    const door = start(at, 'open', 'fenced-1', 'web', '--json');
    await door.prints('Ctrl-C closes it');
    door.child.kill('SIGINT');
    const { stdout } = await door.finished;
    expect([door.child.signalCode, JSON.parse(stdout)]).toEqual([
      'SIGINT', // as with every command that a signal ends
      { run: 'fenced-1', service: 'web', task: 'server', port: 3000, url: expect.stringMatching(/^http:\/\/web\.[0-9a-f]{16}\.localhost:\d+$/) as string }, // prettier-ignore
    ]);

    await using library = new Bosun(at);
    await using web = await library.open('web');
    const host = web.url.slice('http://'.length);
    const ask = (headers: Record<string, string>, method = 'GET'): Promise<string> =>
      asked(web.url, method, headers);
    expect(await ask({})).toBe(`200 GET /path ${host}`);
    expect(await ask({ origin: web.url, 'sec-fetch-site': 'same-origin' }, 'POST')).toBe(
      `200 POST /path ${host}`,
    );
    const visit = {
      'sec-fetch-site': 'cross-site',
      'sec-fetch-mode': 'navigate',
      'sec-fetch-dest': 'document',
    };
    expect(await ask(visit)).toBe(`200 GET /path ${host}`);
    const strange: [string, Record<string, string>, string?][] = [
      ['421', { host: 'evil.test' }],
      ['421', { host: host.replace(/^.*:/, '127.0.0.1:') }],
      ['421', { host: host.replace(/^.*:/, 'localhost:') }],
      ['421', { host: host.replace(/\.[0-9a-f]+/, '') }],
      ['403', { origin: web.url.replace(/\/\/.*:/, '//127.0.0.1:') }],
      ['403', { origin: 'http://evil.test' }, 'POST'],
      ['403', { origin: 'null' }],
      ['403', { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'image' }],
      ['403', { 'sec-fetch-site': 'same-site' }],
      ['403', { ...visit, 'sec-fetch-dest': 'iframe' }],
      ['403', visit, 'POST'],
      ['403', { origin: 'http://evil.test', connection: 'Upgrade', upgrade: 'websocket' }],
    ];
    for (const [status, headers, method] of strange)
      expect((await ask(headers, method)).slice(0, 3), JSON.stringify(headers)).toBe(status);
    expect(await ask({ connection: 'Upgrade', upgrade: 'websocket' })).toBe('101 /path');

    await using echo = await library.open('echo', 'fenced-1', { tcp: true });
    const [, port] = echo.url.split(':');
    const socket = connect(Number(port), '127.0.0.1').end('plain bytes');
    expect((await socket.toArray()).join('')).toBe('plain bytes');

    await using brief = await library.open('brief');
    expect(await asked(`${web.url}/stop`, 'GET', {})).toBe('200 stopped');
    expect(await brief.ended).toBe('its agent ended it');
    await expect(library.open('brief')).rejects.toThrow(/no service "brief"; there is now: web, echo$/);
    const watcher = start(at, 'open', 'web');
    await watcher.prints('Ctrl-C closes it');
    run.child.kill('SIGKILL');
    expect(await web.ended).toBe('the run is interrupted');
    expect(await watcher.finished).toMatchObject({ code: 0, stderr: expect.stringContaining('web is gone: the run is interrupted') as string }); // prettier-ignore
    expect(await bosun(at, 'open', 'web')).toMatchObject({ code: 2, stderr: expect.stringContaining('it is interrupted') as string }); // prettier-ignore
    await vi.waitFor(
      () => expect(processesWith(`${at}/.git/bosun/runs`, 'command line')).toEqual([]),
      20_000,
    );
  }, 120_000);
});

/** Its status, and what it says. */
function asked(url: string, method: string, headers: Record<string, string>): Promise<string> {
  return new Promise((resolve, reject) => {
    const { host, port } = new URL(url);
    const sent = request({
      host: '127.0.0.1', // not every system knows its name
      port,
      path: url.endsWith('/stop') ? '/stop' : '/path',
      method,
      headers: { host, ...headers, connection: headers.connection ?? 'close' },
    });
    const read = async (answer: IncomingMessage): Promise<void> =>
      resolve(`${answer.statusCode} ${(await answer.toArray()).join('').trim()}`);
    sent.on('response', (answer) => void read(answer)).on('error', reject);
    sent.on('upgrade', (answer, socket, head) => {
      const said = async (): Promise<string> => (head.length > 0 ? head : ((await once(socket, 'data')) as [Buffer])[0]).toString(); // prettier-ignore
      void said().then((line) => (socket.destroy(), resolve(`${answer.statusCode} ${line.trim()}`)));
    });
    sent.end();
  });
}
