import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { ATTACKS, LACKS_PRIVILEGE, ORDINARY, type Attack } from './attacks.ts';
import type { Result, Tried } from './result.ts';
import { identities, RUNNER_TIMEOUT_MS, runAttacks, type Identity } from './start-runner.ts';

const PROVEN_MIN = 45;
const started = new Map(identities().map((identity) => [identity, start(identity)]));

describe.each(identities())('as %s, an attempt', (identity) => {
  let results: Map<string, Result>;
  beforeAll(async () => {
    results = await started.get(identity)!;
  }, RUNNER_TIMEOUT_MS + 5000);

  it.each(ATTACKS.map((attack) => [attack.cannot, attack] as const))('cannot %s', (_title, attack) => {
    const { unfenced, fenced } = both(attack);
    if (unfenced.evidence === undefined) expect(excuse(attack, identity, unfenced)).toBeDefined();
    else expect(unfenced.evidence).toContain(attack.evidence);
    expect(fenced, 'it worked in spite of the fence').not.toHaveProperty('evidence');
    expect(fenced.changed, 'it changed the world').toEqual([]);
    expect(fenced, 'it did not run at all').toSatisfy((tried: Tried) => wasTried(attack, tried));
  });

  it.each(ORDINARY.map(({ can, program }) => [can, program] as const))('can %s', (_title, program) => {
    const { fenced } = results.get(program)!;
    expect(fenced?.output).toMatch(/^SUCCEEDED: /m);
    expect(fenced?.changed).toEqual([]);
  });

  it(`is held back by the fence in at least ${PROVEN_MIN} ways that work without it`, () => {
    const proven = ATTACKS.filter((attack) => both(attack).unfenced.evidence !== undefined);
    const rest = ATTACKS.filter((attack) => !proven.includes(attack));
    const list = rest.map(
      (attack) => `  ${attack.program}: ${excuse(attack, identity, both(attack).unfenced)}`,
    );
    console.log(
      `as ${identity}: ${proven.length} of ${ATTACKS.length} attacks work without a fence\n${list.join('\n')}`,
    );
    expect(proven.length).toBeGreaterThanOrEqual(PROVEN_MIN);
  });

  function both({ program }: Attack): { unfenced: Tried; fenced: Tried } {
    const { unfenced, fenced } = results.get(program) ?? {};
    if (unfenced === undefined || fenced === undefined) throw new Error(`${program} was not run`);
    return { unfenced, fenced };
  }
});

describe('the table of attacks', () => {
  const directory = path.join(import.meta.dirname, 'programs');
  const programs = readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\/.*\.(sh|pl|mjs)$/.test(name) && !name.startsWith('world/'))
    .toSorted();

  it('has a row for every program', () => {
    const rows = [...ATTACKS, ...ORDINARY].map(({ program }) => program);
    expect(rows.toSorted()).toEqual(programs);
  });

  it('has programs that open with a sentence on what they try', () => {
    const mute = programs.filter(
      (name) => !/^(#|\/\/) [A-Z].*\.\n/.test(readFileSync(path.join(directory, name), 'utf8')),
    );
    expect(mute).toEqual([]);
  });
});

/** Why an attack that does not work even without a fence is no mistake of the attack: the kernel itself said no. */
function excuse(attack: Attack, identity: Identity, { output }: Tried): string | undefined {
  const [said] = /^stopped: .*/m.exec(output) ?? [];
  if (said === undefined) return undefined;
  if (attack.unfencedNeedsRoot && identity !== 'root' && LACKS_PRIVILEGE.test(said))
    return `needs root, ${said}`;
  return attack.kernelStops?.test(said) ? `this kernel has it not, ${said}` : undefined;
}

/** A program that never started is stopped too, but shows nothing. */
function wasTried(attack: Attack, { code, output }: Tried): boolean {
  if (attack.judged === 'by the output kept') return output.length > 0;
  if (attack.judged !== undefined && code === 0) return /^planted: /m.test(output);
  // whoever takes too much may be ended before it can say a word
  return /^stopped: /m.test(output) || (attack.limits !== undefined && code !== 0 && output === '');
}

/** Both at once; a failure is for the tests of that identity to report. */
function start(identity: Identity): Promise<Map<string, Result>> {
  const results = runAttacks(identity);
  results.catch(() => {});
  return results;
}
