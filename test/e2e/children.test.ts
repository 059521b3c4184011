import { describe, expect, it } from 'vitest';
import type { Event, EventOf, EventType } from '../../src/contract/event.ts';
import { bosun, eventsIn } from '../fixtures/cli.ts';
import { makeRepository, type TestRepository } from '../fixtures/repository.ts';

/** The lead is a plain command; its children write a file each, named after their prompts. */
async function crew(
  lead: string,
  { scope = "scope: { write: ['src/**'] }", task = '' } = {},
): Promise<TestRepository> {
  const workflow = `
name: crew
agents:
  lead:
    runtime: cli
    ${scope}
    command: |
${lead.replaceAll(/^/gm, '      ')}
  hand: { runtime: cli, command: 'read name; mkdir -p src; echo "$name" > "src/$name.txt"; echo "wrote $name"' }
  slow: { runtime: cli, command: 'sleep 60' }
  grab: { runtime: cli, command: 'mkdir -p .bosun r/objects r/refs; cd r; echo x > objects/x; echo x > refs/x; echo > config; echo ref:refs/heads/x > HEAD; echo x > ../.bosun/config.yaml; echo x > ../taken.txt' }
tasks:
  build: { agent: lead, prompt: Build it.${task} }
  after: { needs: [build], run: 'ls src > listed.txt || true' }
`;
  return makeRepository({ files: { 'README.md': 'one\n', 'bosun.yaml': workflow } });
}

/** What the lead printed. */
function saidBy(events: Event[]): string {
  return JSON.stringify(of(events, 'task.finished').find(({ task }) => task === 'build')!.output);
}

function of<T extends EventType>(events: Event[], type: T): EventOf<T>[] {
  return events.filter((event): event is EventOf<T> => event.type === type);
}

describe('an agent with children', () => {
  it('waits for them when its own work is done, and what needs it has the work of all', async () => {
    await using repository = await crew(
      [
        'mkdir -p src; echo lead > src/lead.txt',
        'bosun agent spawn --agent hand one',
        'bosun agent spawn --agent hand --name second two',
      ].join('\n'),
    );
    const { code, stdout } = await bosun(repository.path, 'run', '--json');
    expect(code, stdout).toBe(0);
    const events = eventsIn(stdout);
    expect(of(events, 'child.added').map(({ task, child }) => [task, child])).toEqual([
      ['build', 'build/child-1'],
      ['build', 'build/second'],
    ]);
    const ends = of(events, 'task.finished').map(({ task, outcome }) => [task, outcome.kind]);
    expect(ends.indexOf(ends.find(([task]) => task === 'build')!)).toBe(2);
    expect(Object.fromEntries(ends)).toEqual({
      build: 'done',
      'build/child-1': 'done',
      'build/second': 'done',
      after: 'done',
    });
    await bosun(repository.path, 'merge');
    expect(await repository.git('show', 'HEAD:listed.txt')).toBe('lead.txt\none.txt\ntwo.txt');
  });

  it('gets none that may do more than it may itself, and is told why', async () => {
    await using repository = await crew(
      [
        'bosun agent spawn --agent hand --write "docs/**" one 2>&1; echo "exit $?"',
        'bosun agent spawn --agent nobody one 2>&1; echo "exit $?"',
        'bosun agent spawn --agent hand --name "../x" one 2>&1; echo "exit $?"',
      ].join('\n'),
    );
    const { code, stdout } = await bosun(repository.path, 'run', '--json');
    expect(code, stdout).toBe(0);
    const events = eventsIn(stdout);
    expect(of(events, 'child.added')).toEqual([]);
    const output = saidBy(events);
    expect(output).toMatch(/\\"docs\/\*\*\\" is more than its parent may change \(src\/\*\*\)/);
    expect(output).toMatch(/agent \\"nobody\\"/);
    expect(output.match(/exit 2/g)).toHaveLength(3);
  });

  it('has no child that changes .bosun or makes a repository, however it is asked for', async () => {
    const lead = [
      `bosun agent spawn --agent hand --write '.bosun/**' one 2>&1; echo "exit $?"`,
      'bosun agent spawn --agent grab two',
    ];
    await using repository = await crew(lead.join('\n'), { scope: '' });
    const { stdout } = await bosun(repository.path, 'run', '--json');
    const events = eventsIn(stdout);
    expect(saidBy(events)).toMatch(/only a scope that a person wrote.*exit 2/);
    await bosun(repository.path, 'merge');
    const files = await repository.git('ls-tree', '-r', '--name-only', 'HEAD');
    expect(files.split('\n')).toEqual(expect.arrayContaining(['taken.txt', 'r/config']));
    expect(files).not.toMatch(/\.bosun\/|r\/HEAD/);
  });

  it('has children whose work passes its own check, or is not merged', async () => {
    const lead = 'bosun agent spawn --agent hand good; bosun agent spawn --agent hand --name worse bad';
    await using repository = await crew(lead, { task: `, check: 'test ! -e src/bad.txt'` });
    const { stdout } = await bosun(repository.path, 'run', '--json');
    const ends = of(eventsIn(stdout), 'task.finished');
    expect(ends.find(({ task }) => task === 'build/worse')).toMatchObject({
      outcome: { kind: 'failed', reason: 'check' },
    });
    expect(ends.find(({ task }) => task === 'build')).toMatchObject({ outcome: { kind: 'done' } });
    await bosun(repository.path, 'merge');
    expect(await repository.git('ls-tree', '-r', '--name-only', 'HEAD', 'src')).toBe('src/good.txt');
  });

  it('writes no templates: what it says to a child, and the check that it gives it, are taken as they are', async () => {
    await using repository = await crew(
      'bosun agent spawn --agent hand --check "$(cat check)" "$(cat prompt)"',
    );
    const [prompt, check] = ['${{run.id}}', "echo '${{ run.id }}' | grep -q run.id"];
    await repository.write({ check, prompt });
    await repository.git('add', '.');
    await repository.git('commit', '-qm', 'check');
    const { code, stdout } = await bosun(repository.path, 'run', '--json');
    expect(code, stdout).toBe(0);
    expect(of(eventsIn(stdout), 'child.requested')[0]!.child).toMatchObject({ prompt, check });
    await bosun(repository.path, 'merge');
    expect(await repository.git('ls-tree', '-r', '--name-only', 'HEAD', 'src')).toBe(`src/${prompt}.txt`);
  });

  it('hands on its time-out, what becomes of conflicts, its limits and how it works, and no field that is not one of the tool', async () => {
    const task =
      ", timeout: 5m, attempts: 2, on-conflict: 'agent:hand', workspace: none, limits: { processes: 50 }";
    const call = `{"jsonrpc":"2.0","id":1,"method":"spawn","params":{"prompt":"x","agent":"slow","usd":1,"timeout":"9h","expand":true,"run":"id","retry":{"attempts":9},"env":{"A":"b"}}}`;
    const lead = [
      'bosun agent spawn --agent hand one',
      `node -e 'const c=require("net").connect(process.env.BOSUN_SOCKET??"/run/bosun/agent.sock");c.on("data",(d)=>{console.log(String(d));c.end()});c.write(process.argv[1]+String.fromCharCode(10))' '${call}' || true`,
      'bosun agent children --json',
    ];
    await using repository = await crew(lead.join('\n'), { task });
    const { stdout } = await bosun(repository.path, 'run', '--json');
    const requests = of(eventsIn(stdout), 'child.requested');
    expect(requests.length, stdout).toBeGreaterThan(0);
    for (const { child } of requests) {
      expect(child).toMatchObject({
        timeout: '5m', attempts: 2, 'on-conflict': 'agent:hand', workspace: 'none', limits: { processes: 50 },
        scope: { write: ['src/**'], network: [], read: [] },
      }); // prettier-ignore
      for (const field of ['expand', 'run', 'retry', 'env', 'uses']) expect(child).not.toHaveProperty(field);
    }
  });

  it('waits for one with --wait, and its exit code says what came of it', async () => {
    const lead = [
      'bosun agent spawn --agent hand --wait 60s one; echo "exit $?"',
      'bosun agent spawn --agent hand --check false --wait 60s two; echo "exit $?"',
    ];
    await using repository = await crew(lead.join('\n'));
    const { stdout } = await bosun(repository.path, 'run', '--json');
    const output = saidBy(eventsIn(stdout));
    expect(output).toMatch(/build\/child-1 done: wrote one\\nexit 0/);
    expect(output).toMatch(/build\/child-2 failed: .*exit 1/);
  });

  it('has the tools as MCP too', async () => {
    const calls = [
      { jsonrpc: '2.0', id: 1, method: 'initialize', params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 't', version: '1' } } },
      { jsonrpc: '2.0', method: 'notifications/initialized' },
      { jsonrpc: '2.0', id: 2, method: 'tools/call', params: { name: 'spawn', arguments: { prompt: 'one', agent: 'hand', wait: 60 } } },
    ]; // prettier-ignore
    const typed = calls.map((call) => `echo '${JSON.stringify(call)}'`).join('; ');
    await using repository = await crew(`{ ${typed}; sleep 10; } | bosun agent mcp`);
    const { stdout } = await bosun(repository.path, 'run', '--json');
    expect(saidBy(eventsIn(stdout))).toMatch(/build\/child-1 done: wrote one/);
  });

  it('is shown with its children below it: in status, in the report', async () => {
    await using repository = await crew('bosun agent spawn --agent hand one');
    await bosun(repository.path, 'run');
    const { stdout: status } = await bosun(repository.path, 'status');
    expect(status).toMatch(/build[^\n]*\n[^\n]*build\/child-1[^\n]*\n[^\n]*after/);
    const { stdout: report } = await bosun(repository.path, 'report', '--json');
    const { tasks } = JSON.parse(report) as { tasks: { id: string; parent?: string }[] };
    expect(tasks.map(({ id, parent }) => [id, parent])).toContainEqual(['build/child-1', 'build']);
  });

  it('that fails takes its children with it', async () => {
    await using repository = await crew('bosun agent spawn --agent slow one; exit 3');
    const { code, stdout } = await bosun(repository.path, 'run', '--json');
    expect(code, stdout).toBe(1);
    const ends = of(eventsIn(stdout), 'task.finished').map(({ task, outcome }) => [task, outcome.kind]);
    expect(ends).toEqual([
      ['build/child-1', 'cancelled'],
      ['build', 'failed'],
      ['after', 'skipped'],
    ]);
  });

  it('can cancel one of them, and nobody else’s', async () => {
    await using repository = await crew(
      [
        'bosun agent spawn --agent hand one',
        'bosun agent children',
        'bosun agent cancel-child nobody 2>&1; echo "exit $?"',
      ].join('\n'),
    );
    const { stdout } = await bosun(repository.path, 'run', '--json');
    const output = saidBy(eventsIn(stdout));
    expect(output).toContain('you have no child \\"nobody\\"; yours are child-1');
  });
});
