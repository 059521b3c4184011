import { tmpdir } from 'node:os';
import path from 'node:path';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** These take longest: begun last, they would keep one of two workers waiting for minutes. */
const FIRST = ['runtime-opencode', 'runtime-acp', 'e2e/cli', 'decide'];

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isLong = ({ moduleId }: TestSpecification): boolean =>
      FIRST.some((name) => moduleId.endsWith(`/${name}.test.ts`));
    const sorted = await super.sort(files);
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
  }
}

function scratch(name: string): string {
  return path.join(tmpdir(), `bosun-test-${name}-${process.getuid?.()}`);
}

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // Most workflows here reach beyond their repositories; test/trust.test.ts does without. What tests trust is kept apart.
    env: {
      BOSUN_TRUST: '1',
      XDG_STATE_HOME: scratch('state'),
      // As bin/bosun has it: a program that a test starts is else mostly compiling.
      NODE_COMPILE_CACHE: scratch('cache'),
    },
    testTimeout: 60_000,
    hookTimeout: 60_000,
    pool: 'forks',
    maxWorkers: 2,
    // Real processes, agents and clocks on machines that others use: what fails twice has failed, and a second try is told.
    retry: 1,
    sequence: { sequencer: LongestFirst },
  },
});
