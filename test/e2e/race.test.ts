import { describe, expect, it } from 'vitest';
import type { Event, EventOf, EventType } from '../../src/contract/event.ts';
import { bosun, eventsIn, start } from '../fixtures/cli.ts';
import { makeRepository, type TestRepository } from '../fixtures/repository.ts';

function of<T extends EventType>(events: Event[], type: T): EventOf<T>[] {
  return events.filter((event): event is EventOf<T> => event.type === type);
}

interface Status {
  run: { questions: { choices: { label: string; about?: string }[] }[] };
}

function repositoryWith(workflow: string): Promise<TestRepository> {
  return makeRepository({ files: { 'one.txt': 'one\n', 'bosun.yaml': workflow } });
}

/** Each writes how many lines it is good for. */
const AGENTS = `
agents:
  short: { runtime: cli, command: 'cat > prompt.txt; echo a > code.txt; echo "I wrote one line"' }
  long: { runtime: cli, command: 'cat > prompt.txt; printf "a\\nb\\nc\\n" > code.txt; echo "I wrote three"' }
  broken: { runtime: cli, command: 'echo half > code.txt; echo "no way" >&2; exit 3' }`;

describe('a race', () => {
  it('merges the candidate whose score is best, and keeps the others', async () => {
    await using repository = await repositoryWith(`
name: race
${AGENTS}
tasks:
  write:
    race: [short, long, broken]
    prompt: Write code.txt.
    judge: { check: 'echo "lines: $(wc -l < code.txt) in 1 file" | sed "s/ in 1 file//"' }
  after: { needs: [write], run: 'cp code.txt copy.txt; echo "\${{ tasks.write.output }}" > said.txt' }
`);
    const { code, stdout } = await bosun(repository.path, 'run', '--json');
    expect(code, stdout).toBe(0);
    const events = eventsIn(stdout);
    expect(of(events, 'task.picked')).toEqual([
      {
        type: 'task.picked',
        task: 'write',
        candidate: 'write.2',
        because: 'it has the highest score, 3 (short: 1)',
      },
    ]);
    const starts = of(events, 'attempt.started').filter(({ task }) => task.startsWith('write.'));
    expect(new Set(starts.map(({ from }) => from.join())).size).toBe(1);
    expect(of(events, 'task.merging').map(({ task }) => task)).toEqual(['write', 'after']);

    await bosun(repository.path, 'merge');
    expect(await repository.git('show', 'HEAD:copy.txt')).toBe('a\nb\nc');
    expect(await repository.git('show', 'HEAD:said.txt')).toBe('I wrote three');
    const trailers =
      '--format=%(trailers:key=Bosun-Task,valueonly,separator=%x2c) %(trailers:key=Bosun-Agent,valueonly,separator=%x2c)';
    expect((await repository.git('log', '--reverse', trailers)).split('\n').slice(1)).toEqual([
      'write long',
      'after ',
    ]);
    const kept = await bosun(repository.path, 'diff', '--task', 'write[short]');
    expect(kept.stdout).toContain('+a\n');
    const failed = await bosun(repository.path, 'diff', '--task', 'write[broken]');
    expect(failed.stdout).toContain('+half\n');
  });

  it('without a judge goes to the first that passes the check; the others are stopped and not merged', async () => {
    await using repository = await repositoryWith(`
name: race
agents:
  wrong: { runtime: cli, command: 'echo wrong > code.txt' }
  right: { runtime: cli, command: 'echo right > code.txt; sleep 0.5' }
  slow: { runtime: cli, command: 'echo slow > code.txt; sleep 100' }
tasks:
  write: { race: [wrong, right, slow], prompt: Write code.txt., check: grep right code.txt }
`);
    const { code, stdout } = await bosun(repository.path, 'run', '--json');
    expect(code, stdout).toBe(0);
    const events = eventsIn(stdout);
    expect(of(events, 'task.picked')).toMatchObject([
      { candidate: 'write.2', because: 'it succeeded first' },
    ]);
    const ends = of(events, 'task.finished').map(({ task, outcome }) => [task, outcome.kind]);
    expect(ends).toEqual([
      ['write.1', 'failed'],
      ['write.2', 'done'],
      ['write.3', 'cancelled'],
      ['write', 'done'],
    ]);
    const slow = await bosun(repository.path, 'diff', '--task', 'write[slow]');
    expect(slow.stdout).toContain('+slow\n');
    await bosun(repository.path, 'merge');
    expect(await repository.git('show', 'HEAD:code.txt')).toBe('right');
  });

  it('goes to the one that an agent picks, which sees what all said and changed', async () => {
    await using repository = await repositoryWith(`
name: race
${AGENTS}
  judge:
    runtime: cli
    command: |
      cat > $BOSUN_OUTPUT.seen; cat $BOSUN_FILES/candidate-short.diff $BOSUN_FILES/candidate-long.diff >> $BOSUN_OUTPUT.seen
      cat $BOSUN_OUTPUT.seen >&2; rm $BOSUN_OUTPUT.seen; ls $BOSUN_FILES >&2
      echo 'I like it short. {"pick": "short", "reasons": "less is more"}'
tasks:
  write: { race: [short, long, broken], prompt: Write code.txt., judge: { agent: judge, prompt: Be strict. } }
`);
    const { code, stdout } = await bosun(repository.path, 'run', '--json');
    expect(code, stdout).toBe(0);
    const events = eventsIn(stdout);
    expect(of(events, 'task.picked')).toMatchObject([{ candidate: 'write.1', because: 'less is more' }]);
    const seen = of(events, 'attempt.output')
      .filter(({ task, stream }) => task === 'write.4' && stream === 'stderr')
      .map(({ text }) => text)
      .join('');
    for (const words of [
      'Write code.txt.',
      'Be strict.',
      'I wrote one line',
      'I wrote three',
      '+b',
      'candidate-long.diff',
    ])
      expect(seen).toContain(words);
    expect(seen).not.toContain('candidate-broken');
    await bosun(repository.path, 'merge');
    expect(await repository.git('show', 'HEAD:code.txt')).toBe('a');
    const { stdout: status } = await bosun(repository.path, 'status', '--json');
    expect(status).toContain('write[judge]');
  });

  it('whose judge picks nobody fails, says so, and runs its candidates again when it is tried again', async () => {
    await using repository = await repositoryWith(`
name: race
${AGENTS}
  judge:
    runtime: cli
    command: |
      if [ "$BOSUN_TASK" = write.4 ]; then echo '{"pick": "long", "reasons": "now it is"}'
      else echo '{"pick": "none", "reasons": "none is good"}'; fi
tasks:
  write: { race: [short, long], prompt: Write code.txt., judge: { agent: judge } }
`);
    const first = await bosun(repository.path, 'run');
    expect(first.code).toBe(1);
    expect(first.stdout).toContain('write[judge] picked nobody: none is good');
    const again = await bosun(repository.path, 'retry', 'write', '--json');
    expect(again.code, again.stdout).toBe(0);
    const events = eventsIn(again.stdout);
    expect(of(events, 'attempt.started').map(({ task, attempt }) => `${task}@${attempt}`)).toEqual([
      'write.1@2',
      'write.2@2',
      'write.4@1',
    ]);
    expect(of(events, 'task.picked')).toMatchObject([{ candidate: 'write.2', because: 'now it is' }]);
  });

  it('goes to the one that a person picks, or to nobody', async () => {
    await using repository = await repositoryWith(`
name: race
${AGENTS}
tasks:
  write: { race: [short, long, broken], prompt: Write code.txt., judge: person }
`);
    const first = start(repository.path, 'run', '--json');
    await first.prints('question.asked');
    const { run } = JSON.parse((await bosun(repository.path, 'status', '--json')).stdout) as Status;
    expect(run.questions[0]!.choices.map(({ label }) => label)).toEqual(['short', 'long', 'none of them']);
    expect(run.questions[0]!.choices[1]!.about).toBe('2 files changed: I wrote three');
    const shown = await bosun(repository.path, 'diff', '--task', 'write', '--candidates');
    expect(shown.stdout).toContain('── write[short] (done)');
    expect(shown.stdout).toContain('── write[broken] (failed)');
    await bosun(repository.path, 'answer', 'write', 'long');
    const { code, stdout } = await first.finished;
    expect(code, stdout).toBe(0);
    expect(of(eventsIn(stdout), 'task.picked')).toMatchObject([{ candidate: 'write.2' }]);
    await bosun(repository.path, 'merge');
    expect(await repository.git('show', 'HEAD:code.txt')).toBe('a\nb\nc');
  });

  it('fails with all reasons where no candidate succeeds, and a score that is no number is such a reason', async () => {
    await using repository = await repositoryWith(`
name: race
${AGENTS}
tasks:
  write: { race: [short, broken], prompt: Write code.txt., judge: { check: echo good } }
`);
    const { code, stdout } = await bosun(repository.path, 'run', '--json');
    expect(code).toBe(1);
    const ended = of(eventsIn(stdout), 'task.finished').find(({ task }) => task === 'write');
    expect((ended!.outcome as { message: string }).message).toBe(
      "none of the 2 candidates succeeded (short: the judge's check printed no number, so it has no score; broken: it ended with exit code 3)",
    );
    const report = await bosun(repository.path, 'report');
    for (const name of ['short', 'broken']) expect(report.stdout).toContain(`✗ write[${name}]`);
  });

  it('runs for each item, each with its own pick, and all own the same files', async () => {
    await using repository = await repositoryWith(`
name: race
tasks:
  write:
    for-each: [x, y]
    race: 2
    run: 'echo "\${{ each }} $BOSUN_TASK" > "\${{ each }}.txt"'
    scope: { write: ['\${{ each }}.txt'] }
    judge: { check: 'cut -d. -f3 "\${{ each }}.txt"', best: lowest }
`);
    const { code, stdout } = await bosun(repository.path, 'run', '--json');
    expect(code, stdout).toBe(0);
    expect(
      of(eventsIn(stdout), 'task.picked')
        .map(({ candidate }) => candidate)
        .toSorted(),
    ).toEqual(['write.1.1', 'write.2.1']);
    await bosun(repository.path, 'merge');
    expect(await repository.git('show', 'HEAD:x.txt')).toBe('x write.1.1');
    expect(await repository.git('show', 'HEAD:y.txt')).toBe('y write.2.1');
    const { stdout: status } = await bosun(repository.path, 'status', '--json');
    expect(status).toContain('write[x][2]');
  });

  it('whose pick conflicts is settled by the agent for that, or fails and starts from the top again', async () => {
    await using repository = await repositoryWith(`
name: race
agents: { one: { runtime: cli, command: 'sleep 0.5; echo race > one.txt' } }
tasks:
  other: { run: 'echo other > one.txt' }
  write: { race: [one, one], prompt: Write. }
`);
    const first = await bosun(repository.path, 'run');
    expect(first.code, first.stdout).toBe(1);
    expect(first.stdout).toContain('write  conflict: its changes conflict with the work of other in one.txt');
    const again = await bosun(repository.path, 'retry', 'write', '--json');
    expect(again.code, again.stdout).toBe(0);
    await bosun(repository.path, 'merge');
    expect(await repository.git('show', 'HEAD:one.txt')).toBe('race');
  });
});
