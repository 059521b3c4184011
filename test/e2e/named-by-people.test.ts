/** What bosun or git would obey is merged only where a person's scope names it: a scope that an agent wrote never does. */
import { expect, it } from 'vitest';
import { bosun, eventsIn } from '../fixtures/cli.ts';
import { makeRepository, type TestRepository } from '../fixtures/repository.ts';

const BARE = `mkdir -p r/objects r/refs; echo x > r/objects/x; echo x > r/refs/x; echo > r/config; echo 'ref: refs/heads/main' > r/HEAD`;

async function planned(planner: string, plan: object): Promise<TestRepository & { said: string }> {
  const repository = await makeRepository({
    files: {
      'plan.json': JSON.stringify({ tasks: plan }),
      'bosun.yaml': `
name: planned
tasks:
  plan: { expand: true, run: 'cp plan.json $BOSUN_OUTPUT', ${planner} }
`,
    },
  });
  const run = await bosun(repository.path, 'run', '--json');
  const said = eventsIn(run.stdout).flatMap((event) =>
    event.type === 'attempt.finished'
      ? [JSON.stringify([event.outcome, event.collected?.outside?.files])]
      : [],
  );
  return Object.assign(repository, { said: said.join('\n') });
}

async function files(repository: TestRepository): Promise<string[]> {
  await bosun(repository.path, 'merge');
  return (await repository.git('ls-tree', '-r', '--name-only', 'HEAD')).split('\n');
}

it('a plan whose scope names .bosun is sent back, whatever its planner may change', async () => {
  for (const scope of ['', 'scope: { write: ["**"] }']) {
    await using repository = await planned(scope, {
      grab: { run: 'mkdir -p .bosun; echo x > .bosun/config.yaml', scope: { write: ['.bosun/**'] } },
    });
    expect(repository.said).toContain('only a scope that a person wrote in the workflow may name these');
    expect(await files(repository)).not.toContain('.bosun/config.yaml');
  }
});

it('a planner whose own scope names a directory of .bosun hands that on, and no more', async () => {
  await using repository = await planned('scope: { write: ["src/**", ".bosun/agents/**"] }', {
    agents: {
      run: 'mkdir -p .bosun/agents; echo x > .bosun/agents/a.md; echo x > .bosun/config.yaml || true',
    },
  });
  expect(await files(repository)).toContain('.bosun/agents/a.md');
  expect(await files(repository)).not.toContain('.bosun/config.yaml');
});

it('a repository that a plan names has no HEAD in the result', async () => {
  await using repository = await planned('', { grab: { run: BARE, scope: { write: ['r/**'] } } });
  expect(repository.said).toContain('makes a git repository of its directory');
  expect(await files(repository)).toContain('r/config');
  expect(await files(repository)).not.toContain('r/HEAD');
});

it('a value that is filled into a glob names nothing, wherever it comes from', async () => {
  await using repository = await makeRepository({
    files: {
      'bosun.yaml': `
name: filled
tasks:
  say: { run: 'echo "[\\".bosun/config.yaml\\"]" > $BOSUN_OUTPUT' }
  grab:
    needs: [say]
    for-each: \${{ tasks.say.output }}
    run: 'mkdir -p .bosun; echo x > .bosun/config.yaml'
    scope: { write: ['\${{ each }}'] }
  named:
    for-each: [a]
    run: 'mkdir -p .bosun/agents; echo x > .bosun/agents/a.md'
    scope: { write: ['.bosun/agents/\${{ each }}.md'] }
`,
    },
  });
  const run = await bosun(repository.path, 'run', '--json');
  expect(run.stdout).toContain("bosun's own settings");
  expect(await files(repository)).toContain('.bosun/agents/a.md');
  expect(await files(repository)).not.toContain('.bosun/config.yaml');
});
