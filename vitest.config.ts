import { tmpdir } from 'node:os';
import path from 'node:path';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** These take longest, longest first: begun last, they would keep the other workers waiting for minutes. */
const FIRST = [
  'runtime-opencode',
  'runtime-acp',
  'real/faults',
  'e2e/cli',
  'real/interrupted',
  'limits',
  'fault/crash',
  'attack/planted',
  'e2e/shapes',
  'workspace',
  'e2e/bad-input',
  'attack/engine',
  'decide',
  'attack/as-user',
  'attack/as-root',
];

/** These wait for agents and clocks more than they work: a third of them finds a core that is free. */
const WAITING = [
  'test/real/*.test.ts',
  'test/runtime-{acp,claude-code,codex,opencode}.test.ts',
  'test/{asleep,conformance,limits}.test.ts',
  'test/e2e/cli.test.ts',
];

/** These run a second time as an ordinary user. Others start programs as one: see test/fixtures/ordinary-user.ts. */
const AS_USER_TOO = [
  'test/attack/links.test.ts',
  'test/e2e/{hostile-files,truth}.test.ts',
  'test/fault/{merge,prune}.test.ts',
  'test/{disk-floor,hold-objects,memory-used,money-held,nothing-lost,planted-git}.test.ts',
];

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rankOf = ({ moduleId }: TestSpecification): number => {
      const rank = FIRST.findIndex((name) => moduleId.endsWith(`/test/${name}.test.ts`));
      return rank < 0 ? FIRST.length : rank;
    };
    return (await super.sort(files)).toSorted((a, b) => rankOf(a) - rankOf(b));
  }
}

const ALL = ['test/**/*.test.ts'];

const each = {
  // Most workflows here reach beyond their repositories; test/trust.test.ts does without. What tests trust is kept apart.
  env: {
    BOSUN_TRUST: '1',
    // Workers share the machine; test/machine.test.ts does without.
    BOSUN_AGENTS: '10000',
    XDG_STATE_HOME: path.join(tmpdir(), `bosun-test-state-${process.getuid?.()}`),
    // As bin/bosun has it: a program that a test starts is else mostly compiling. Only we write in here.
    NODE_COMPILE_CACHE: path.resolve('node_modules/.cache/compiled'),
  },
  testTimeout: 60_000,
  hookTimeout: 60_000,
  pool: 'forks',
  // Real processes, agents and clocks on machines that others use: what fails twice has failed, and a second try is told.
  retry: 1,
} as const;

/** Whoever runs the tests as an ordinary user has no need of it. */
const ordinaryUser = {
  extends: false,
  test: {
    ...each,
    name: 'ordinary user',
    include: AS_USER_TOO,
    globalSetup: 'test/fixtures/equip-ordinary-user.ts',
    setupFiles: 'test/fixtures/become-ordinary-user.ts',
    maxWorkers: 2,
    sequence: { groupOrder: 1 },
  },
} as const;

export default defineConfig({
  test: {
    include: ALL,
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        extends: false,
        test: { ...each, name: 'waiting', include: WAITING, maxWorkers: 3, sequence: { groupOrder: 0 } },
      },
      {
        extends: false,
        test: {
          ...each,
          name: 'working',
          include: ALL,
          exclude: ['**/node_modules/**', ...WAITING],
          maxWorkers: 2,
          sequence: { groupOrder: 1 },
        },
      },
      ...(process.getuid?.() === 0 ? [ordinaryUser] : []),
    ],
  },
});
