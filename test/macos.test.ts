/** The profile for sandbox-exec, as text: nothing here was run on macOS. */
import { mkdtemp, readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { MacosLauncher, MACOS_NOTES } from '../src/sandbox/macos/macos.ts';
import { profileOf } from '../src/sandbox/macos/seatbelt.ts';
import type { Fence } from '../src/system/process/fence.ts';
import { removeTree } from '../src/system/files/remove-tree.ts';

const fence = (more: Partial<Fence> = {}): Fence => ({
  write: [],
  keep: [],
  grantable: [],
  mask: [],
  read: [],
  own: [],
  egress: false,
  limits: {},
  ...more,
});

/** The rules that begin so, in their order. */
function rules(profile: string, head: string): string[] {
  return profile.split(/\n(?=\()/).filter((rule) => rule.startsWith(`(${head}`));
}

/** Which of the rules on writes decides: the last that has the path or one above it. */
function mayWrite(profile: string, file: string): boolean {
  let may = false;
  for (const rule of profile.split(/\n(?=\()/)) {
    if (!/^\((allow|deny) file-write\*/.test(rule)) continue;
    const paths = [...rule.matchAll(/\(subpath "(.*)"\)/g)].map((match) => match[1]!);
    if (paths.some((top) => file === top || file.startsWith(`${top}/`))) may = rule.startsWith('(allow');
  }
  return may;
}

describe('the profile of a fence', () => {
  test('denies everything that is not named', () => {
    const profile = profileOf(fence(), '/w');
    expect(profile.split('\n').slice(0, 2)).toEqual(['(version 1)', '(deny default)']);
    expect(rules(profile, 'allow default')).toEqual([]);
    expect(rules(profile, 'allow file-write*')).toEqual([]);
    expect(profile).not.toMatch(/network/);
    expect(profile).not.toMatch(/subpath "\/(Users|private|System|var)?"/);
    for (const line of profile.split('\n').filter((line) => line.startsWith('(allow file')))
      expect(line, 'a rule about files has filters').not.toMatch(/\)$/);
  });

  test('lets the workspace be read, and its write directories and own directories be written', () => {
    const profile = profileOf(
      fence({ write: ['src', 'docs/a'], read: ['/opt2/tool'], own: ['/run/own'] }),
      '/w/s',
      { scratch: ['/t/home'] },
    );
    const [read] = rules(profile, 'allow file-read*');
    for (const file of ['/w/s', '/opt2/tool', '/run/own', '/t/home', '/usr'])
      expect(read).toContain(`(subpath "${file}")`);
    for (const file of ['/w/s/src/x', '/w/s/docs/a/x', '/run/own/x', '/t/home/x'])
      expect([file, mayWrite(profile, file)]).toEqual([file, true]);
    for (const file of ['/w/s/x', '/w/s/srcs/x', '/w/s/docs/x', '/opt2/tool/x', '/t/x', '/usr/x'])
      expect([file, mayWrite(profile, file)]).toEqual([file, false]);
    expect(rules(profile, 'allow file-read-metadata')[0]).toContain('(literal "/w")');
  });

  test('takes the whole workspace for a write directory without a name', () => {
    const profile = profileOf(fence({ write: [''] }), '/w');
    expect(rules(profile, 'allow file-write*')).toEqual(['(allow file-write*\n  (subpath "/w"))']);
  });

  test('denies again at its end what is kept or masked inside', () => {
    const profile = profileOf(fence({ write: ['src'], keep: ['src/kept'], mask: ['src/a/secret'] }), '/w');
    for (const file of ['/w/src/kept', '/w/src/kept/x', '/w/src/a/secret/x'])
      expect([file, mayWrite(profile, file)]).toEqual([file, false]);
    expect(mayWrite(profile, '/w/src/a/x')).toBe(true);
    expect(rules(profile, 'deny file-read*')).toEqual([
      '(deny file-read* file-map-executable\n  (subpath "/w/src/a/secret"))',
    ]);
    expect(profile.indexOf('(deny file-read*')).toBeGreaterThan(profile.lastIndexOf('(allow file-read*'));
    expect(profile.indexOf('(deny file-write*')).toBeGreaterThan(profile.lastIndexOf('(allow file-write'));
  });

  test('lets no directory be moved whose move would take a masked entry along', () => {
    const profile = profileOf(fence({ write: ['src'], mask: ['src/a/b/secret', 'other/secret'] }), '/w');
    expect(rules(profile, 'deny file-write-unlink')).toEqual([
      '(deny file-write-unlink\n  (literal "/w/src")\n  (literal "/w/src/a")\n  (literal "/w/src/a/b"))',
    ]);
  });

  test('leaves what is grantable read-only', () => {
    expect(mayWrite(profileOf(fence({ grantable: ['docs'] }), '/w'), '/w/docs/x')).toBe(false);
  });

  test('quotes paths so that none becomes a rule', () => {
    const odd = 'a"))(allow default)(deny file-read* (subpath "b\\';
    const profile = profileOf(fence({ write: [odd], mask: ['x\\" y', 'ü\n(allow default)'] }), '/w');
    expect(profile).toContain('(subpath "/w/a\\"))(allow default)(deny file-read* (subpath \\"b\\\\")');
    expect(profile).toContain('(subpath "/w/x\\\\\\" y")');
    const withoutStrings = profile.replaceAll(/"(\\.|[^"\\])*"/gs, '""');
    expect(withoutStrings).not.toContain('allow default');
    expect(withoutStrings.split('(').length).toBe(withoutStrings.split(')').length);
    expect(() => profileOf(fence({ write: ['a\0b'] }), '/w')).toThrow(/zero byte/);
  });

  test('opens the sockets of the attempt, and the proxy where hosts are allowed', () => {
    const closed = profileOf(fence({ sockets: '/s' }), '/w', { proxyPort: 3128 });
    expect(closed).toContain('(allow network-outbound (remote unix-socket (subpath "/s")))');
    expect(closed.trimEnd().split('\n').at(-1)).toBe(
      '(deny network-outbound (remote unix-socket (path-literal "/s/egress.sock")))',
    );
    expect(closed).not.toContain('remote ip');
    const open = profileOf(fence({ sockets: '/s', egress: true }), '/w', { proxyPort: 3128 });
    expect(open).not.toContain('deny network');
    expect(open).toContain('(allow network-outbound (remote ip "localhost:3128"))');
    expect(open).not.toMatch(/localhost:\*|network-bind|network-inbound|local ip/);
  });
});

describe.runIf(process.platform !== 'darwin')('a launcher without sandbox-exec', () => {
  test('never runs a command without its fence', async () => {
    const cwd = await mkdtemp(path.join(tmpdir(), 'bosun-macos-'));
    const launch = { argv: ['/bin/sh', '-c', 'echo > ran'], cwd, env: {}, fence: fence({ write: [''] }) };
    expect(() => new MacosLauncher().launch(launch)).toThrow(/sandbox-exec is missing/);
    expect(await readdir(cwd)).toEqual([]);
    await removeTree(cwd);
  });

  test("runs the engine's own commands as they are", async () => {
    const { exited } = new MacosLauncher().launch({ argv: ['/bin/sh', '-c', 'exit 3'], cwd: '/', env: {} });
    expect((await exited).code).toBe(3);
  });

  test('says that nobody tried it', () => {
    expect(MACOS_NOTES.join()).toMatch(/not tried/);
  });
});
