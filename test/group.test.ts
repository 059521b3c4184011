import { spawn } from 'node:child_process';
import { expect, it } from 'vitest';
import { asGroup } from '../src/system/process/group.ts';

it('a group is ended also where its first process was not its leader yet', async () => {
  const argv = ['sh', '-c', 'sleep 0.2; exec setsid sleep 100'];
  const child = spawn(argv[0]!, argv.slice(1), { stdio: ['ignore', 'pipe', 'pipe'] });
  const running = asGroup(child, argv, { settle: async () => undefined });
  running.kill();
  expect((await running.exited).signal).toBe('SIGKILL');
});
