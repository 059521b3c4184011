import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { opencode } from '../src/runtime/opencode/opencode.ts';
import { runtimeCases } from './cases/runtime.case.ts';
import { REAL_BIN } from './fixtures/runtime-job.ts';

/** A registry of packages, in place of the address at which nobody answers. */
const asked: (string | undefined)[] = [];
const registry = createServer(({ url }, response) => {
  asked.push(url);
  response.writeHead(404).end();
});
await new Promise<void>((resolve) => registry.listen(0, '127.0.0.1', resolve));
afterAll(() => void registry.close());
const { port } = registry.address() as AddressInfo;

const agent = {
  runtime: 'opencode' as const,
  command: ['/usr/bin/env', `npm_config_registry=http://127.0.0.1:${port}/`, path.join(REAL_BIN, 'opencode')],
  model: 'openai/gpt-scripted',
};

// Reading the list of all models that it knows takes three of the eight seconds that a start costs; test/real/ does.
const env = { OPENCODE_MODELS_PATH: path.resolve('test/fixtures/no-models.json') };

// OpenCode 1.18 loads .opencode/plugin with every setting that is said to forbid it.
runtimeCases('opencode', () => ({ runtime: opencode, agent, obeyed: ['evil-plugin'], env }));

it('asks no registry for packages, in none of these cases', () => {
  expect(asked).toEqual([]);
});
