import { tmpdir } from 'node:os';
import path from 'node:path';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { testsAlone } from './test/fixtures/tests-alone.ts';

/** These take longest, longest first: begun last, they would keep the other workers waiting for minutes. */
const FIRST = [
  'fault/crash',
  'fault/crew',
  'real/faults',
  'runtime-acp',
  'runtime-opencode',
  'e2e/cli',
  'workspace',
  'e2e/bad-input',
  'limits',
  'attack/planted',
  'real/interrupted',
  'e2e/shapes',
  'attack/engine',
  'real/hello',
  'e2e/machine-failures',
  'decide',
  'e2e/many-runs',
  'docs',
  'conformance',
  'real/replay',
  'e2e/installed',
  'e2e/pause',
  'e2e/hard-cases',
  'fault/hooks',
  'e2e/race',
  'one-engine',
  'e2e/orphans',
  'merge',
  'fault/prune',
  'write-commit',
  'e2e/models',
  'e2e/agent-tools',
  'fault/merge',
  'real/pause',
  'attack/as-user',
  'attack/as-root',
];

/** These run a second time as an ordinary user. Others start programs as one: see test/fixtures/ordinary-user.ts. */
const AS_USER_TOO = [
  'test/attack/links.test.ts',
  'test/e2e/{hostile-files,truth}.test.ts',
  'test/fault/{merge,prune}.test.ts',
  'test/{disk-floor,hold-objects,memory-used,money-held,nothing-lost,planted-git,relay}.test.ts',
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
/** Those of `npm run test:fast`. They share processes, since what they import takes longer than they do. */
const ALONE = testsAlone();

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
  // Agents and clocks are waited for: with two of these for a core, what works has the cores meanwhile.
  maxWorkers: 4,
} as const;

/** Whoever runs the tests as an ordinary user has no need of it. */
const ordinaryUser = {
  extends: false as const,
  test: {
    ...each,
    name: 'ordinary user',
    include: AS_USER_TOO,
    globalSetup: ['test/fixtures/package-built.ts', 'test/fixtures/equip-ordinary-user.ts'],
    setupFiles: 'test/fixtures/become-ordinary-user.ts',
  },
};

export default defineConfig({
  test: {
    include: ALL,
    sequence: { sequencer: LongestFirst },
    projects: [
      { extends: false, test: { ...each, name: 'alone', include: ALONE, isolate: false } },
      {
        extends: false,
        test: {
          ...each,
          name: 'real',
          include: ALL,
          exclude: ['**/node_modules/**', ...ALONE],
          globalSetup: 'test/fixtures/package-built.ts',
        },
      },
      ...(process.getuid?.() === 0 ? [ordinaryUser] : []),
    ],
  },
});
