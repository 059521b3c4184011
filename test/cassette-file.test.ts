import { appendFileSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { recordingTransport } from '../src/gateway/cassette/record.ts';
import { TransportError, type Transport } from '../src/gateway/transport.ts';
import { ask, hear, JSON_TYPE, refusal, saying, Shelf, STREAM, toolCall } from './fixtures/cassette.ts';
import { startProgram } from './fixtures/cli.ts';

describe('the file of a cassette', () => {
  it('holds no secret, in whatever way it came', async () => {
    using shelf = new Shelf();
    const known = 'our own key 12345';
    const keys = [
      known,
      'sk-ant-api03-AAAAAAAAAAAAAAAAAAAA',
      'sk-proj-BBBBBBBBBBBBBBBBBBBBBBBB',
      `AIza${'C'.repeat(35)}`,
      `ghp_${'D'.repeat(36)}`,
      `AKIA${'E'.repeat(16)}`,
      `ya29.${'F'.repeat(30)}`,
    ];
    const text = `line\n${keys.join('\n')}\nAuthorization: Bearer GGGGGGGGGGGG`;
    const twice = JSON.stringify({ command: text });
    const answers = [
      {
        headers: { ...JSON_TYPE, 'set-cookie': `s=${keys[1]}` },
        chunks: [Buffer.from(JSON.stringify({ text, twice }))],
      },
      { headers: STREAM, chunks: toolCall({ text }, 5).map((event) => Buffer.from(event)) },
    ];
    {
      const failing: Transport = {
        send: () => Promise.reject(new TransportError('auth', 401, `${keys[1]} is not accepted`)),
      };
      const good = saying(...answers);
      let times = 0;
      const inner: Transport = { send: (...all) => (times++ < 2 ? good : failing).send(...all) };
      await using recorder = shelf.record(inner, undefined, [known, '']);
      const request = ask(
        { text, twice },
        {
          path: `/v1/x?alt=sse&key=${keys[3]}`,
          headers: { authorization: `Bearer ${keys[2]}`, 'x-api-key': keys[1]!, 'x-goog-api-key': keys[3]! },
        },
      );
      await hear(recorder, request);
      await hear(recorder, request);
      await refusal(recorder, request);
    }
    const file = readFileSync(shelf.file, 'utf8');
    for (const key of [...keys, 'GGGGGGGGGGGG']) expect(file).not.toContain(key.slice(-12));
    // Pieces of keys that came in pieces.
    for (const letters of ['AAAAA', 'BBBBB', 'CCCCC', 'DDDDD', 'EEEEE', 'FFFFF', 'GGGGG'])
      expect(file).not.toContain(letters);
    expect(file.match(/\[secret\]/g)!.length).toBeGreaterThan(4 * keys.length);
    const replay = shelf.replay(undefined, { secrets: [known] });
    const other = ask({ text, twice }, { path: '/v1/x?alt=sse&key=another' });
    expect((await hear(replay, other)).text).toContain('[secret]');
  });

  it('is readable by its owner alone', async () => {
    using shelf = new Shelf();
    await shelf.record(saying())[Symbol.asyncDispose]();
    expect(statSync(shelf.file).mode & 0o777).toBe(0o600);
  });

  it('is never written over, but one that is empty is used', async () => {
    using shelf = new Shelf();
    writeFileSync(shelf.file, '', { mode: 0o644 });
    await shelf.record(saying())[Symbol.asyncDispose]();
    expect(statSync(shelf.file).mode & 0o777).toBe(0o600);
    const before = readFileSync(shelf.file, 'utf8');
    expect(() => shelf.record(saying())).toThrow(/something is on it already; name a new file/);
    expect(() =>
      recordingTransport(saying(), '/dev/null', { placeOf: () => undefined, secrets: [] }),
    ).toThrow(/it is not an ordinary file/);
    expect(readFileSync(shelf.file, 'utf8')).toBe(before);
  });

  it('holds what a conversation says again and again once', async () => {
    using shelf = new Shelf();
    const message = (n: number): unknown => ({
      role: 'user',
      content: [{ type: 'text', text: `${n} ${'words '.repeat(500)}` }],
    });
    const talk = (turns: number): unknown => ({
      system: 'rules '.repeat(5000),
      messages: Array.from({ length: turns }, (_, n) => message(n)),
    });
    const turns = Array.from({ length: 20 }, (_, n) => n + 1);
    {
      const answers = turns.map((n) => ({ headers: JSON_TYPE, chunks: [Buffer.from(`"${n}"`)] }));
      await using recorder = shelf.record(saying(...answers));
      for (const n of turns) await hear(recorder, ask(talk(n)));
    }
    const longest = JSON.stringify(talk(20)).length;
    expect(statSync(shelf.file).size).toBeLessThan(longest + turns.length * 1500);
    const replay = shelf.replay();
    for (const n of turns.toReversed()) expect((await hear(replay, ask(talk(n)))).text).toBe(`"${n}"`);
  });

  it('is said not to be complete where the disk was full, and what was sent was answered all the same', async () => {
    using shelf = new Shelf();
    const program = `
      import { recordingTransport } from './src/gateway/cassette/record.ts';
      process.on('SIGXFSZ', () => {});
      const inner = { send: async () => ({ status: 200, headers: {}, body: (async function* () {})() }) };
      const recorder = recordingTransport(inner, ${JSON.stringify(shelf.file)}, { placeOf: () => {}, secrets: [] });
      for (const size of [10, 20_000, 30]) {
        const request = { task: 'a', attempt: 1, method: 'POST', path: '/', headers: {}, body: Buffer.alloc(size, 'x') };
        const { body } = await recorder.send({ ...request, provider: 'p', dialect: 'openai' }, new AbortController().signal);
        for await (const _ of body);
        console.log('answered', size);
      }
      await recorder[Symbol.asyncDispose]().catch((error) => console.log(error.message));`;
    const limited = [
      '-c',
      'ulimit -f 8; exec "$0" "$@"',
      process.execPath,
      '--input-type=module',
      '-e',
      program,
    ];
    const { stdout } = await startProgram(['/bin/sh', ...limited], process.cwd()).finished;
    expect(stdout).toMatch(
      /answered 10\nanswered 20000\nanswered 30\nthe recording on .* is not complete: EFBIG/,
    );
    expect(await refusal(shelf.replay(), ask({}))).toMatchObject({ kind: 'bad-request' });
  });

  it('has each exchange as soon as it has ended, and a last line that was torn is passed over', async () => {
    using shelf = new Shelf();
    const recorder = shelf.record(saying({ headers: JSON_TYPE, chunks: [Buffer.from('1')] }));
    await hear(recorder, ask({ n: 1 }));
    const crashed = readFileSync(shelf.file, 'utf8');
    await recorder[Symbol.asyncDispose]();
    writeFileSync(shelf.file, `${crashed}{"task":"hello","att`);
    expect((await hear(shelf.replay(), ask({ n: 1 }))).text).toBe('1');
  });

  it('is refused with a reason where it is damaged, of another version, missing or something else', async () => {
    using shelf = new Shelf();
    expect(() => shelf.replay()).toThrow(/cannot replay .*run\.cassette: ENOENT/);
    writeFileSync(shelf.file, 'name: x\n');
    expect(() => shelf.replay()).toThrow(/is not a cassette: record one with/);
    writeFileSync(shelf.file, '{"cassette":"bosun","version":99}\n');
    expect(() => shelf.replay()).toThrow(/version 99, and this bosun reads version 1/);
    writeFileSync(shelf.file, '{"cassette":"bosun","version":1}\n{"torn\n');
    appendFileSync(shelf.file, '{"torn\n');
    expect(() => shelf.replay()).toThrow(/is damaged in line 2/);
  });
});
