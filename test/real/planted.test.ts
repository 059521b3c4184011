/** A repository that brings settings of its own for agents gets nothing by them. */
import { mkdir, rename, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { startModelServer } from '../../src/model-server/server.ts';
import { plantedFiles } from '../fixtures/real-planted.ts';
import { NOTHING_LEFT, RealWorld, SLOW_MS } from '../fixtures/real-world.ts';

const SECRET = 'PRIVATE-KEY-OF-THE-USER';

describe('a repository with settings for agents', { timeout: SLOW_MS }, () => {
  it('runs nothing of its own, widens no scope, turns no model elsewhere and reads no secret', async () => {
    await using evil = await startModelServer({ script: { answers: [{ text: 'evil' }] } });
    const agents = ['claude', 'codex', 'opencode', 'claude-acp', 'codex-acp', 'gemini-acp'];
    const rules = agents.map((agent) => ({
      when: { conversation: `I call you ${agent}.` },
      answers: [
        { run: `echo good > src/${agent}.txt` },
        { run: `echo bad > outside.txt; echo bad > .claude/${agent}; true` },
        { run: `(ls src /tmp; env; cat ~/.ssh/* "$SECRETS"/*) > src/seen-${agent}.txt 2>&1; true` },
        { text: 'all done' },
      ],
    }));
    await using world = await RealWorld.make({ rules }, { files: plantedFiles(evil.url) });
    const secrets = path.join(world.home, '.ssh');
    await mkdir(secrets);
    await writeFile(path.join(secrets, 'id_ed25519'), SECRET);
    const { code, ended, changed } = await world.run({
      concurrency: 3,
      tasks: Object.fromEntries(
        agents.map((agent) => [
          agent,
          {
            agent,
            prompt: `I call you ${agent}.`,
            env: { SECRETS: secrets },
            scope: { shared: ['src/**'], write: [`src/*${agent}.txt`] },
          },
        ]),
      ),
    });
    expect(agents.map((agent) => [agent, ended(agent).outcome.kind])).toEqual(
      agents.map((agent) => [agent, 'done']),
    );
    expect(code).toBe(0);
    for (const agent of agents) {
      expect([agent, ...changed(agent)]).toEqual([agent, `A src/${agent}.txt`, `A src/seen-${agent}.txt`]);
      const seen = await world.merged(`src/seen-${agent}.txt`);
      expect([agent, /evil[-\w]*/i.exec(seen)?.[0], seen.includes(SECRET)]).toEqual([
        agent,
        undefined,
        false,
      ]);
    }
    expect(evil.requests).toEqual([]);
    expect(world.asks.filter(({ model }) => model?.includes('evil'))).toEqual([]);
    expect(world.asks.filter(({ body }) => JSON.stringify(body).includes('mcp__evil'))).toEqual([]);
    const asked = world.asks.map(({ body }) => JSON.stringify(body));
    expect(asked.some((body) => body.includes('I call you codex.') && body.includes('Be kind.'))).toBe(true);
    expect(await world.remains()).toEqual(NOTHING_LEFT);
  });

  it('cannot hide them behind a link from the fence', async () => {
    await using world = await RealWorld.make(
      { answers: [{ text: 'ok' }] },
      { files: plantedFiles('http://x') },
    );
    const { path: top, git } = world.repository;
    await rename(path.join(top, '.opencode'), path.join(top, 'elsewhere'));
    await symlink('elsewhere', path.join(top, '.opencode'));
    await git('add', '--all');
    await git('commit', '--quiet', '-m', 'Link');
    const { ended } = await world.run({ tasks: { work: { agent: 'opencode', prompt: 'Work.' } } });
    expect(ended('work').outcome).toMatchObject({
      kind: 'failed',
      reason: 'start',
      message: expect.stringContaining('.opencode of the repository is a symbolic link') as string,
    });
    expect(world.asks).toEqual([]);
  });
});
