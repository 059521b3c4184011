/** The HTTP door: what is where, and that a run started through it goes its way. Real sockets, real runs. */
import { execFile } from 'node:child_process';
import { readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { OPENAPI_PATH, openApiText } from '../scripts/schema.ts';
import { OPERATION_NAMES } from '../src/contract/operations.ts';
import { NOT_SERVED, ROUTES } from '../src/doors/http/routes.ts';

import {
  askAt,
  Documented,
  listenTo,
  openShop,
  startServer,
  type Answered,
  type Asked,
  type TestServer,
} from './fixtures/http.ts';
import { perform } from '../src/operations/perform.ts';
import { makeRepository } from './fixtures/repository.ts';

const RUN = `name: ships
tasks:
  one: { run: echo hello > one.txt }
  ship: { needs: [one], approve: 'Ship it?' }
  two: { needs: [ship], run: echo two >> one.txt }
`;
/** Kept beside what is committed: a page, a file of some size, one that is empty. */
const KEEPS = `name: keeps
tasks:
  build:
    run: mkdir -p out/deep && echo '<script>alert(1)</script>' > 'out/deep/a b.html' && head -c 300000 /dev/zero > out/big && touch out/empty
    artifacts: ['out/**']
`;
const SLOW = 'name: slow\ntasks: { one: { run: sleep 60 } }\n';

const shop = openShop({
  'bosun.yaml': RUN,
  'slow.yaml': SLOW,
  'keeps.yaml': KEEPS,
  'code.ts': 'export default {}',
});
let server: TestServer;
let at: string;

beforeAll(async () => ({ server, at } = await shop));
afterAll(async () => {
  expect(server.bugs).toEqual([]);
  await (await shop)[Symbol.asyncDispose]();
});

const documented = new Documented();
const ask = (method: string, route: string, asked?: Asked): Promise<Answered> =>
  documented.ask(server, method, route, asked);

describe('a run over HTTP', () => {
  it(
    'is started, watched, answered and looked at, each as the document says',
    { timeout: 120_000 },
    async () => {
      await using all = listenTo(server.serving.url, '/api/events', { token: server.serving.token });
      await all.status;
      const accepted = await ask('POST', `${at}/runs`, { body: {} });
      expect(accepted.status).toBe(202);
      const { id } = accepted.json;
      const run = `${at}/runs/${id}`;
      await using stream = listenTo(server.serving.url, `${run}/events`, { token: server.serving.token });
      await stream.until(({ data }) => data?.event.type === 'question.asked');
      expect((await ask('GET', run)).json.run).toMatchObject({
        state: 'running',
        questions: [{ id: 'ship' }],
      });
      expect((await ask('GET', `${at}/at-work`)).json).toMatchObject([{ id }]);
      expect((await ask('GET', '/api/runs?limit=1')).json).toMatchObject([{ id: `shop:${id}`, run: { id } }]);
      expect((await ask('POST', `${run}/pause`, { body: { name: 'two' } })).status).toBe(200);
      expect((await ask('POST', `${run}/unpause`, { body: { name: 'two' } })).status).toBe(200);
      expect((await ask('PUT', `${run}/budget`, { body: { usd: 7 } })).json).toMatchObject({
        limits: { usd: 7 },
      });
      expect((await ask('POST', `${run}/tasks/one/steer`, { body: { text: 'x' } })).status).toBe(409);
      expect((await ask('POST', `${run}/answer`, { body: { answer: 'perhaps' } })).status).toBe(400);
      expect((await ask('POST', `${run}/answer`, { body: { answer: 'yes' } })).json).toMatchObject({
        isTaken: true,
      });
      await stream.until(({ data }) => data?.event.type === 'run.finished');
      const events = stream.events.filter(({ id }) => id !== undefined);
      expect(events.map(({ data }) => data.seq)).toEqual(events.map((_, n) => n + 1));
      await all.until(({ data }) => data?.run === id && data.event.type === 'run.finished');
      expect(all.events.filter(({ data }) => data?.run === id).map(({ data }) => data.seq)).toEqual(
        events.map((_, n) => n + 1),
      );

      const by = events.find(({ data }) => data.event.type === 'question.answered')!.data.event.by;
      expect(by).toMatch(/@127\.0\.0\.1$/);
      expect(events[0]!.data.event.queued.by).toBe(by);
      expect((await ask('GET', `${run}/budget`)).json.accounts).toMatchObject([
        { account: 'run', limits: { usd: 7 } },
      ]);
      expect((await ask('GET', `${run}/changes`)).json.files).toMatchObject([{ path: 'one.txt', added: 2 }]);
      expect((await ask('GET', `${run}/changes?task=one&attempt=1`)).json.files).toMatchObject([
        { added: 1 },
      ]);
      expect((await ask('GET', `${run}/patch`)).text).toContain('+two');
      const one = await ask('GET', `${run}/patch?path=one.txt&task=one`);
      expect(one.text).toContain('+hello');
      expect((await ask('GET', `${run}/changes?path=one.txt`)).json.files).toHaveLength(1);
      expect((await ask('GET', `${run}/patch?path=two.txt`)).json).toMatchObject({
        status: 404,
        detail: expect.stringContaining('two.txt is not among the 1 files'),
      });
      expect(
        (await ask('GET', `${run}/tasks?state=done`)).json.map((each: { id: string }) => each.id),
      ).toEqual(['one', 'ship', 'two']);
      expect((await ask('GET', `${run}/tasks/two/attempts`)).json).toMatchObject([
        { attempt: 1, purpose: 'work', state: 'done', changedCount: 1, artifactCount: 0 },
      ]);
      expect((await ask('GET', `${run}/report`)).json).toMatchObject({ run: { state: 'done' } });
      expect((await ask('GET', `${run}/messages`)).status).toBe(200);
      expect((await ask('GET', `${run}/agents`)).status).toBe(200);
      expect((await ask('GET', `${at}/totals?per=task`)).status).toBe(200);
      const { name } = (await ask('GET', run)).json.run;
      expect((await ask('GET', `${at}/forecast?workflow=${name}`)).json).toMatchObject({
        runs: 1,
        failed: 0,
      });
      expect((await ask('POST', `${run}/push`, { body: {} })).status).toBeGreaterThanOrEqual(400); // no remote
      expect((await ask('POST', `${run}/pr`, { body: {} })).status).toBeGreaterThanOrEqual(400);
      expect((await ask('GET', `${run}/tasks/one/output`)).status).toBe(200);
      const lines = (await ask('GET', `${run}/log?withoutOutput=true&task=two`)).text.trim().split('\n');
      expect(lines.map((line) => JSON.parse(line).event.type)).toContain('attempt.started');

      const some = (await ask('GET', `${run}/log?types=run.created&types=run.finished`)).text.trim();
      expect(some.split('\n').map((line) => JSON.parse(line).event.type)).toEqual([
        'run.created',
        'run.finished',
      ]);
      expect((await ask('GET', `${run}/log?types=run.begun`)).json).toMatchObject({
        status: 400,
        detail: expect.stringContaining('there are no events of the type "run.begun"'),
      });
      const page = (await ask('GET', `${run}/events?limit=3`)).json;
      const next = (await ask('GET', `${run}/events?limit=1000&after=${page.next}`)).json;
      expect([...page.events, ...next.events].map(({ seq }) => seq)).toEqual(events.map((_, n) => n + 1));
      expect((await ask('GET', `${at}/events?limit=2`)).json.events).toHaveLength(2);
      expect((await ask('POST', `${run}/resume`, { body: {} })).status).toBe(409);
      expect((await ask('POST', `${run}/tasks/one/retry`, { body: {} })).status).toBe(409);
      expect((await ask('GET', `${run}/merge?squash=true`)).json).toMatchObject({
        kind: 'squashed',
        branch: 'main',
        commits: [{}, {}],
        files: [{ path: 'one.txt', added: 2 }],
      });
      expect((await ask('POST', `${run}/merge`, { body: { squash: true } })).json).toMatchObject({
        kind: 'squashed',
      });
      expect((await ask('GET', run)).json.run.landed).toMatchObject({ kind: 'squashed', by });
      expect((await ask('GET', `${at}/overview`)).json).toMatchObject({
        branch: 'main',
        runs: [{ run: { id }, isMerged: true, strip: { lanes: 1 } }],
      });
      expect((await ask('DELETE', `${run}/merge`)).json).toMatchObject({ run: id, branch: 'main' });
      const glance = (await ask('GET', `${at}/overview?runs=${id}`)).json;
      expect(glance).toMatchObject({ runs: [{ run: { id }, isMerged: false }] });
      expect(glance.days).toBeUndefined();
      expect((await ask('DELETE', `${run}/merge`)).status).toBe(409);
      expect((await ask('POST', `${run}/merge`, { body: { squash: true } })).status).toBe(200);
      expect((await ask('GET', `${at}/runs`)).json).toMatchObject([{ id, state: 'done' }]);
      const exec = await ask('POST', `${at}/exec`, { body: { argv: ['echo', 'hello'] } });
      await all.until(({ data }) => data?.run === exec.json.id && data.event.type === 'run.finished');
      expect((await ask('GET', `${at}/runs/${exec.json.id}/tasks/${exec.json.task}/output`)).json).toEqual({
        output: 'hello',
      });
      expect((await ask('POST', `${at}/prune`, { body: { keep: 1 } })).json.runs).toMatchObject([{ id }]);
    },
  );

  it(
    'that is cancelled is continued by a process of its own, for whoever asked',
    { timeout: 120_000 },
    async () => {
      const { id } = (await ask('POST', `${at}/runs`, { body: { file: 'slow.yaml' } })).json;
      await using stream = listenTo(server.serving.url, `${at}/runs/${id}/events`, {
        token: server.serving.token,
      });
      await stream.until(({ data }) => data?.event.type === 'attempt.workspace');
      expect((await ask('POST', `${at}/runs/${id}/cancel`, { body: { now: true } })).json).toMatchObject({
        state: 'cancelled',
      });
      expect((await ask('POST', `${at}/runs/${id}/resume`, { body: {} })).json).toEqual({ id });
      const resumed = await stream.until(({ data }) => data?.event.type === 'run.resumed');
      expect(resumed.data.event.by).toMatch(/@127\.0\.0\.1$/);
      await ask('POST', `${at}/runs/${id}/cancel`, { body: { now: true } });
    },
  );

  it('is made once for a key, however often it is asked for', async () => {
    const asked = { body: { argv: ['true'] }, headers: { 'idempotency-key': 'order-66' } };
    const all = await Promise.all(Array.from({ length: 20 }, () => ask('POST', `${at}/exec`, asked)));
    expect(new Set(all.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    expect((await ask('POST', `${at}/exec`, { ...asked, body: { argv: ['false'] } })).json).toMatchObject({
      status: 409,
      code: 'conflict',
    });
    const own = { name: 'again', role: 'run' } as const;
    const { token } = await perform('addToken', own, { cwd: '/', by: { kind: 'person', name: 'anna' } });
    const other = await ask('POST', `${at}/exec`, { ...asked, token });
    expect(other.json.id).not.toBe(all[0]!.json.id); // a key is the caller's own
    const begun = async (id: string): Promise<unknown> =>
      (await ask('GET', `${at}/runs/${id}/events?limit=1`)).json.events[0].event;
    // Only an admin's word counts for what a machine without fences would run as it is.
    expect(await begun(all[0]!.json.id)).toMatchObject({ source: 'exec' });
    expect(await begun(other.json.id)).toMatchObject({
      source: 'the workflow',
      queued: { by: expect.stringContaining('again') as string },
    });
    expect(await begun(other.json.id)).not.toHaveProperty('queued.trusted');
    for (const key of ['', 'a b', 'x'.repeat(256)])
      expect(
        (await ask('POST', `${at}/exec`, { ...asked, headers: { 'idempotency-key': key } })).status,
      ).toBe(400);
  });

  it('is found nowhere else', async () => {
    expect((await ask('GET', `${at}/runs/other-1`)).status).toBe(404);
    expect((await server.ask('GET', '/api/repositories/other/runs')).status).toBe(404);
    expect((await server.ask('GET', `/api/repositories/${encodeURIComponent('../shop')}/runs`)).status).toBe(
      404,
    );
    expect((await server.ask('GET', `${at}/runs/%E0%A4%A`)).status).toBe(400);
    await using stream = listenTo(server.serving.url, `${at}/runs/other-1/events`, {
      token: server.serving.token,
    });
    expect(await stream.status).toBe(404);
  });

  it('takes workflow files of the repository alone, and none that is code', async () => {
    writeFileSync(path.join(tmpdir(), 'bosun-outside.yaml'), SLOW);
    for (const file of [
      '../bosun-outside.yaml',
      path.join(tmpdir(), 'bosun-outside.yaml'),
      'code.ts',
      'a/../../x.yaml',
      '.env',
    ]) {
      const refused = await ask('POST', `${at}/runs`, { body: { file } });
      expect((await ask('POST', `${at}/check`, { body: { file } })).json).toEqual(refused.json);
      expect(refused.json).toMatchObject({ status: 400, code: 'usage', errors: [{ pointer: '/file' }] });
    }
    expect((await ask('POST', `${at}/runs`, { body: { file: 'none.yaml' } })).status).toBe(422);
    expect((await ask('POST', `${at}/check`, { body: { file: 'slow.yaml' } })).json).toMatchObject({
      file: 'slow.yaml',
    });
  });
});

describe('events', () => {
  it(
    'go on behind the last one that was seen, with no gap and none twice',
    { timeout: 120_000 },
    async () => {
      const { token, url } = server.serving;
      const { id } = (
        await ask('POST', `${at}/exec`, {
          body: { argv: ['sh', '-c', 'for n in 1 2 3 4 5 6; do echo $n; sleep 0.1; done'] },
        })
      ).json;
      const seen: { id: string; seq: number }[] = [];
      const take = (events: { id?: string; data?: any }[]): void => {
        for (const { id: at, data } of events)
          if (at !== undefined && data.run === id) seen.push({ id: at, seq: data.seq });
      };
      let last: string | undefined;
      for (let cuts = 0, isOver = false; !isOver; cuts += 1) {
        await using stream = listenTo(url, `${at}/runs/${id}/events`, {
          token,
          headers: last === undefined ? {} : { 'last-event-id': last },
        });
        const from = seen.length;
        const enough = await stream.until(
          ({ data }) =>
            data?.event.type === 'run.finished' || (cuts < 4 && data?.seq === (seen[from - 1]?.seq ?? 0) + 2),
        );
        isOver = enough.data.event.type === 'run.finished';
        take(stream.events);
        last = seen.at(-1)!.id;
      }
      expect(seen.map(({ seq }) => seq)).toEqual(seen.map((_, n) => n + 1));
      await using all = listenTo(url, '/api/events', {
        token,
        headers: { 'last-event-id': `shop:${seen[1]!.id}` },
      });
      await all.until(({ data }) => data?.run === id && data.event.type === 'run.finished');
      const behind = all.events.filter(({ data }) => data?.run === id);
      expect(behind.map(({ data }) => data.seq)).toEqual(seen.slice(2).map(({ seq }) => seq));
      await using quiet = listenTo(url, `${at}/runs/${id}/events?withoutOutput=true`, { token });
      await quiet.until(({ data }) => data?.event.type === 'run.finished');
      expect(quiet.events.some(({ data }) => data?.event.type === 'attempt.output')).toBe(false);
    },
  );

  it('of no journal, or with an id that is none, are refused', async () => {
    const { token, url } = server.serving;
    for (const [route, headers, status] of [
      [`${at}/events`, { 'last-event-id': 'x' }, 400],
      [`${at}/events`, { 'last-event-id': '999999.1' }, 404],
      [`${at}/events?limit=3`, {}, 400],
      [`${at}/events?after=1`, {}, 400],
      ['/api/events', { 'last-event-id': 'shop:x' }, 400],
      ['/api/events?other=1', {}, 400],
    ] as const) {
      await using stream = listenTo(url, route, { token, headers });
      expect(await stream.status, `${route} ${JSON.stringify(headers)}`).toBe(status);
    }
    expect((await server.ask('GET', '/api/events')).status).toBe(406);
  });
});

describe('artifacts', () => {
  it('are listed with their sizes, and each is a file to be saved', { timeout: 120_000 }, async () => {
    const { token, url } = server.serving;
    const { id } = (await ask('POST', `${at}/runs`, { body: { file: 'keeps.yaml' } })).json;
    const task = `${at}/runs/${id}/tasks/build`;
    await using stream = listenTo(url, `${at}/runs/${id}/events`, { token });
    await stream.until(({ data }) => data?.event.type === 'run.finished');
    expect((await ask('GET', `${task}/artifacts`)).json).toEqual({
      task: 'build',
      attempt: 1,
      files: [
        { path: 'out/big', bytes: 300_000 },
        { path: 'out/deep/a b.html', bytes: 26 },
        { path: 'out/empty', bytes: 0 },
      ],
    });
    const page = await ask(
      'GET',
      `${task}/artifact?path=${encodeURIComponent('out/deep/a b.html')}&attempt=1`,
    );
    expect(page.text).toBe('<script>alert(1)</script>\n');
    expect(page.headers).toMatchObject({
      'content-type': 'application/octet-stream',
      'content-disposition': "attachment; filename*=UTF-8''a%20b.html",
      'content-security-policy': "default-src 'none'; sandbox; frame-ancestors 'none'",
      'x-content-type-options': 'nosniff',
    });
    expect((await ask('GET', `${task}/artifact?path=out/big`)).text).toBe('\0'.repeat(300_000));
    expect(await ask('GET', `${task}/artifact?path=out/empty`)).toMatchObject({ status: 200, text: '' });
    expect((await ask('GET', `${task}/artifact`)).status).toBe(400);
    for (const other of ['out/none', 'out', '../../journal.db', '/etc/passwd', 'out/../out/big'])
      expect((await ask('GET', `${task}/artifact?path=${other}`)).status, other).toBe(404);
    expect((await ask('GET', `${task}/artifacts?attempt=2`)).status).toBe(404);

    // whoever can write there is us; still, what has become a link leads nowhere
    const kept = path.join((await shop).repository.path, '.git/bosun/runs', id, 'artifacts/build@1/out');
    rmSync(path.join(kept, 'big'));
    symlinkSync('/etc/passwd', path.join(kept, 'big'));
    rmSync(path.join(kept, 'deep'), { recursive: true });
    symlinkSync('/etc', path.join(kept, 'deep'));
    expect((await ask('GET', `${task}/artifacts`)).json.files).toEqual([{ path: 'out/empty', bytes: 0 }]);
    expect((await ask('GET', `${task}/artifact?path=out/big`)).status).toBe(404);
    expect(
      (await ask('GET', `${task}/artifact?path=${encodeURIComponent('out/deep/a b.html')}`)).status,
    ).toBe(404);
  });
});

describe('the server', () => {
  it('says that it is up and ready, and gives figures', async () => {
    expect((await ask('GET', '/health', { token: undefined })).json).toEqual({ status: 'ok' });
    expect((await ask('GET', '/ready', { token: undefined })).json).toEqual({ status: 'ready' });
    expect((await ask('GET', '/openapi.json', { token: undefined })).json.openapi).toBe('3.1.1');
    expect((await ask('GET', '/api/session')).json).toMatchObject({ role: 'admin', by: { kind: 'person' } });
    const origin = { origin: server.serving.url };
    expect((await ask('POST', '/api/session', { body: {}, headers: origin })).status).toBe(200);
    expect((await ask('DELETE', '/api/session', { headers: origin })).json).toEqual({ ended: true });
    const figures = (await ask('GET', '/metrics')).text;
    expect(figures).toMatch(/^bosun_http_requests_total\{route="\/health",status="200"\} [1-9]/m);
    expect((await server.ask('HEAD', '/health', { token: undefined })).text).toBe('');
  });

  it('looks after its repositories', { timeout: 120_000 }, async () => {
    await using more = await makeRepository({ name: 'shop' });
    const added = await ask('POST', '/api/repositories', { body: { directory: more.path } });
    expect(added).toMatchObject({ status: 201, json: { name: 'shop-2', directory: more.path } });
    expect((await ask('GET', '/api/repositories')).json.map((each: { name: string }) => each.name)).toEqual([
      'shop',
      'shop-2',
    ]);
    expect((await ask('POST', '/api/repositories', { body: { directory: tmpdir() } })).status).toBe(409);
    expect((await ask('GET', '/api/repositories/shop-2/workspaces')).json).toEqual([]);
    expect((await ask('DELETE', '/api/repositories/shop-2/workspaces')).json).toEqual({
      removed: [],
      kept: [],
    });
    expect((await ask('GET', '/api/repositories/shop-2/doctor')).status).toBe(200);
    expect((await ask('GET', '/api/repositories/shop-2/config')).json.values).toContainEqual(
      expect.objectContaining({ key: 'runtime', from: 'default' }),
    );
    expect((await ask('GET', '/api/repositories/shop-2/hooks')).json).toEqual([]);
    expect((await ask('GET', '/api/repositories/shop-2/hooks?file=code.ts')).status).toBe(400);
    expect(
      (await ask('PUT', '/api/repositories/shop-2/shared-budget', { body: { usdPerDay: 5 } })).status,
    ).not.toBe(500);
    expect((await ask('DELETE', '/api/repositories/shop-2')).status).toBe(200);
    expect((await ask('DELETE', '/api/repositories/shop-2')).status).toBe(404);
  });

  it('is one for a socket, and says who has it', async () => {
    const second = startServer({ socketPath: server.serving.socketPath });
    await expect(second).rejects.toThrow(
      /process \d+, at http:.*end it, or give this one a socket of its own/,
    );
    const { port } = new URL(server.serving.url);
    await expect(startServer({ port: Number(port) })).rejects.toThrow(
      /EADDRINUSE.*choose another with --port/,
    );
  });

  it('ends at once with streams open, and tells nobody anything half', async () => {
    const other = await startServer();
    const stream = listenTo(other.serving.url, '/api/events', { token: other.serving.token });
    expect(await stream.status).toBe(200);
    await other[Symbol.asyncDispose]();
    await stream.ended;
    await expect(askAt(other.serving.url, 'GET', '/health')).rejects.toThrow('ECONNREFUSED');
  });

  it('has an address or a reason why not for every operation', () => {
    const served = new Set<string>(ROUTES.map(({ operation }) => operation));
    expect(OPERATION_NAMES.filter((name) => !served.has(name) && !NOT_SERVED[name])).toEqual([]);
    expect(Object.keys(NOT_SERVED).filter((name) => served.has(name))).toEqual([]);
  });
});

describe('the document', () => {
  it('is valid OpenAPI 3.1, and is the one that is in the package', { timeout: 60_000 }, async () => {
    expect(readFileSync(OPENAPI_PATH, 'utf8')).toBe(openApiText());
    const linted = await promisify(execFile)(
      'node_modules/.bin/redocly',
      ['lint', 'schema/openapi.json', '--extends=spec'],
      { env: { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' } },
    ).catch((error: { stdout: string; stderr: string }) => error);
    expect(linted.stderr).toContain('Your API description is valid');
  });

  it('lists workflow files, and what is configured', async () => {
    const { files } = (await ask('GET', `${at}/workflows`)).json;
    expect(files.map(({ file }: { file: string }) => file)).toEqual([
      'bosun.yaml',
      'keeps.yaml',
      'slow.yaml',
    ]);
    expect((await ask('GET', `${at}/shared-budget`)).json).toEqual([]);
    const { values } = (await ask('GET', `${at}/config`)).json;
    expect(values.find(({ key }: { key: string }) => key === 'isolation')).toMatchObject({ from: 'default' });
  });

  it('gives tokens to its own person alone, each shown once', async () => {
    const made = await ask('POST', '/api/tokens', { body: { name: 'ci', role: 'admin', expires: '1h' } });
    expect(made).toMatchObject({ status: 201, json: { name: 'ci', role: 'admin' } });
    const { token } = made.json;
    const listed = (await ask('GET', '/api/tokens')).json;
    expect(listed.map(({ name }: { name: string }) => name)).toContain('ci');
    expect(JSON.stringify(listed)).not.toContain(token);
    const byToken = await ask('POST', '/api/tokens', { token, body: { name: 'more', role: 'admin' } });
    expect(byToken).toMatchObject({ status: 403, json: { code: 'not-trusted' } });
    expect((await ask('DELETE', '/api/tokens/ci')).status).toBe(200);
    expect((await ask('GET', `${at}/runs`, { token })).status).toBe(401);
  });

  it('has nothing that these tests have not asked for', () => {
    const { ids, visited } = documented;
    expect(new Set(ids).size).toBe(ids.length);
    const elsewhere = /^(allEvents|(put|remove)?(workers?|templates?|items?)|execut|\w+Execution)/i; // executions.test.ts
    expect(ids.filter((id) => !visited.has(id) && !elsewhere.test(id))).toEqual([]);
  });
});
