/** What is in the way of fences, what cannot be held, and how what held is told. */
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import type { Isolation } from '../src/contract/isolation.ts';
import { workflow } from '../src/definition/builder.ts';
import { userConfigFile } from '../src/definition/config.ts';
import { Home } from '../src/store/home.ts';
import { checkIsolation } from '../src/run/isolation.ts';
import { isolationLines } from '../src/report/isolation.ts';
import { addIsolation } from '../src/schedule/history/isolations.ts';
import { chooseSandbox, type Sandbox } from '../src/sandbox/choose.ts';
import { namespaceFacts, obstacles } from '../src/sandbox/linux/obstacles.ts';
import { removeTree } from '../src/system/files/remove-tree.ts';

describe('what forbids user namespaces', () => {
  const machine = (files: Record<string, string>, uid = 1000): string[] => {
    const facts = namespaceFacts(
      (file) => files[file],
      (file) => file in files,
      uid,
    );
    return obstacles(facts).map(({ what, remedy }) => `${what} → ${remedy}`);
  };

  test.each([
    [
      'AppArmor, as on Ubuntu',
      { '/proc/sys/kernel/apparmor_restrict_unprivileged_userns': '1\n' },
      /^AppArmor .* → sudo sysctl -w kernel\.apparmor_restrict_unprivileged_userns=0/,
    ],
    [
      'a kernel that leaves it to root',
      { '/proc/sys/kernel/unprivileged_userns_clone': '0\n' },
      /^only root .* → sudo sysctl -w kernel\.unprivileged_userns_clone=1/,
    ],
    [
      'a limit of none',
      { '/proc/sys/user/max_user_namespaces': '0\n' },
      /^user namespaces are turned off .* → sudo sysctl -w user\.max_user_namespaces=\d+/,
    ],
    [
      'Docker',
      { '/.dockerenv': '' },
      /^this is a Docker container.* → start it with: docker run --security-opt seccomp=unconfined .*systempaths=unconfined/,
    ],
    [
      'Podman',
      { '/run/.containerenv': '' },
      /^this is a Podman container.* → start it with: podman run .*unmask=ALL/,
    ],
  ])('%s is named with its remedy', (_, files, expected) => {
    expect(machine(files)).toEqual([expect.stringMatching(expected)]);
  });

  it('is nothing on an ordinary machine, and root is not held by a rule for others', () => {
    expect(
      machine({
        '/proc/sys/kernel/apparmor_restrict_unprivileged_userns': '0\n',
        '/proc/sys/kernel/unprivileged_userns_clone': '1\n',
        '/proc/sys/user/max_user_namespaces': '96343\n',
      }),
    ).toEqual([]);
    expect(machine({ '/proc/sys/kernel/unprivileged_userns_clone': '0\n' }, 0)).toEqual([]);
  });
});

describe('a machine with fences that cannot hold all', () => {
  let directory: string;
  let sandbox: Sandbox;
  beforeAll(async () => {
    directory = await mkdtemp(path.join(tmpdir(), 'bosun-isolation-'));
    const { limits: _, ...rest } = await chooseSandbox(directory);
    sandbox = rest;
  });
  afterAll(() => removeTree(directory));
  const check = (isolation: 'required' | 'best-effort', limits: { memory?: string }): Isolation => {
    const tasks = { a: { run: 'true', limits } };
    const room = { home: new Home({ top: directory, commonDir: directory }), sandbox };
    return checkIsolation(room, workflow({ name: 'w', isolation, tasks }), 'bosun.yaml');
  };

  it('fails a run that requires it only where the workflow names such a limit', () => {
    expect(() => check('required', { memory: '1GB' })).toThrow(
      /nothing was started.*cannot hold the limit on memory/,
    );
    expect(check('required', {}).notes).toEqual([]);
  });

  it('tells of grants that wait for the next attempt, also where isolation is required', () => {
    const told = (grant: 'ask' | 'never'): string[] => {
      const tasks = { a: { run: 'true', scope: { write: ['a'], grant } } };
      const made = workflow({ name: 'w', isolation: 'required', tasks });
      return checkIsolation(
        { home: new Home({ top: directory, commonDir: directory }), sandbox, canGrant: false },
        made,
        'w',
      ).notes;
    };
    expect(told('ask')).toEqual([expect.stringContaining("take effect at the agent's next attempt")]);
    expect(told('never')).toEqual([]);
  });

  it('tells of it where nothing is required', () => {
    expect(check('best-effort', { memory: '1GB' }).notes).toEqual([
      'the workflow limits memory, which this machine cannot hold',
    ]);
  });
});

describe('a machine that only watches memory', () => {
  let directory: string;
  let sandbox: Sandbox;
  beforeAll(async () => {
    directory = await mkdtemp(path.join(tmpdir(), 'bosun-isolation-'));
    sandbox = await chooseSandbox(directory);
  });
  afterAll(() => removeTree(directory));
  const check = (
    isolation: 'required' | 'best-effort',
    memory: 'watchdog' | 'cgroup',
    limits: { memory?: string; disk?: string; cpu?: number },
  ): Isolation => {
    const { held, ...rest } = sandbox.limits!;
    const room = {
      home: new Home({ top: directory, commonDir: directory }),
      sandbox: { ...sandbox, limits: { ...rest, held: { ...held, memory } } },
    };
    const tasks = { a: { run: 'true', limits } };
    return checkIsolation(room, workflow({ name: 'w', isolation, tasks }), 'bosun.yaml');
  };

  it('starts no run that requires isolation and limits memory, and says what to do', () => {
    expect(() => check('required', 'watchdog', { memory: '1GB' })).toThrow(
      /^nothing was started: isolation is required by bosun\.yaml, .* memory .* only watched.*systemd-run --user --scope -p Delegate=yes .*remove the limit.*best-effort$/,
    );
  });

  it('starts one that limits nothing that is only watched, or where a cgroup holds it', () => {
    const held = [
      check('required', 'watchdog', { disk: '1GB', cpu: 1 }),
      check('required', 'cgroup', { memory: '1GB' }),
    ];
    expect(held.map(({ notes }) => notes)).toEqual([[], []]);
  });

  it('says in one line of the report what is not counted, where memory is limited', () => {
    expect(check('best-effort', 'watchdog', { memory: '1GB' }).notes).toEqual([
      expect.stringMatching(/^memory is watched, not held: .* are not counted$/),
    ]);
    expect(check('best-effort', 'watchdog', {}).notes).toEqual([]);
  });
});

describe('what held, in words', () => {
  const fences: Isolation = {
    kind: 'fences',
    uid: 64123,
    limits: {
      memory: 'watchdog',
      processes: 'prlimit',
      cpu: 'watchdog',
      disk: 'watchdog',
      'open files': 'prlimit',
    },
    notes: [],
  };
  const lines = (...told: Isolation[]): string[] => {
    const isolations: Isolation[] = [];
    for (const each of told) addIsolation(isolations, each);
    return isolationLines(isolations, true);
  };

  it('says who held what', () => {
    expect(lines(fences)).toEqual([
      'fenced: bubblewrap, own network, user 64123; memory and cpu watched every 50 ms, processes and open files held by the kernel, disk watched',
    ]);
    const cgroups = { ...fences.limits!, memory: 'cgroup', processes: 'cgroup', cpu: 'cgroup' } as const;
    expect(lines({ kind: 'fences', limits: cgroups, notes: [] })).toEqual([
      'fenced: bubblewrap, own network; memory, cpu and processes held by a cgroup, open files held by the kernel, disk watched',
    ]);
  });

  it('puts what was not fenced first, and says each thing once however many engines there were', () => {
    const none: Isolation = { kind: 'none', lacks: 'no bwrap', notes: ['full copies'] };
    expect(lines(none, fences, none, fences)).toEqual([
      'before it was resumed: NOT FENCED: no bwrap; commands can read, write and reach all that you can, and no limits are held',
      expect.stringMatching(/^fenced: /),
    ]);
    expect(lines(fences, none)).toEqual([
      expect.stringMatching(/^NOT FENCED: no bwrap/),
      expect.stringMatching(/^before it was resumed: fenced: /),
      'full copies',
    ]);
  });

  it('takes what was not written down for unfenced', () => {
    expect(lines()).toEqual([expect.stringContaining('NOT FENCED')]);
    expect(isolationLines([], false)).toEqual([]);
  });
});

test('a user keeps the configuration where such files are kept', () => {
  expect(userConfigFile({ XDG_CONFIG_HOME: '/x' })).toBe('/x/bosun/config.yaml');
  for (const env of [{}, { XDG_CONFIG_HOME: '' }, { XDG_CONFIG_HOME: 'relative' }])
    expect(userConfigFile(env)).toMatch(/^\/.*\/\.config\/bosun\/config\.yaml$/);
});
