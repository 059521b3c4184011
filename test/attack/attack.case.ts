/** Every attack, without a fence and behind it, as somebody; the attacks themselves are in attacks.ts. */
import { beforeAll, describe, expect, it } from 'vitest';
import { ATTACKS, isTriedBothWays, LACKS_PRIVILEGE, limitNameOf, ORDINARY, type Attack } from './attacks.ts';
import type { Result, Tried, Way } from './result.ts';
import { RUNNER_TIMEOUT_MS, runAttacks, type Identity } from './start-runner.ts';

const PROVEN_MIN = 45;
const FENCES: [how: string, way: Way, isTried: (what: { program: string }) => boolean][] = [
  ['', 'fenced', () => true],
  [', held without our native launcher,', 'fencedByUtilLinux', isTriedBothWays],
];

export function attackSuite(identity: Identity): void {
  let results: Map<string, Result>;
  beforeAll(async () => {
    results = await runAttacks(identity);
  }, RUNNER_TIMEOUT_MS + 5000);

  describe.each(FENCES)(`as ${identity}, an attempt%s`, (_how, way, isTried) => {
    const attacks = ATTACKS.filter(isTried).map((attack) => [attack.cannot, attack] as const);
    it.each(attacks)('cannot %s', (_title, attack) => {
      const [unfenced, fenced] = [triedAs(attack, 'unfenced'), triedAs(attack, way)];
      if (unfenced.evidence === undefined) expect(excuse(attack, identity, unfenced)).toBeDefined();
      else expect(unfenced.evidence).toContain(attack.evidence);
      expect(fenced, 'it worked in spite of the fence').not.toHaveProperty('evidence');
      expect(fenced.changed, 'it changed the world').toEqual([]);
      expect(fenced, 'it did not run at all').toSatisfy((tried: Tried) => wasTried(attack, tried));
    });

    const ordinary = ORDINARY.filter(isTried).map((what) => [what.can, what] as const);
    it.each(ordinary)('can %s', (_title, what) => {
      const fenced = triedAs(what, way);
      expect(fenced.output).toMatch(/^SUCCEEDED: /m);
      expect(fenced.changed).toEqual([]);
    });
  });

  it(`as ${identity}, an attempt is held back by the fence in at least ${PROVEN_MIN} ways that work without it`, () => {
    const proven = ATTACKS.filter((attack) => triedAs(attack, 'unfenced').evidence !== undefined);
    const rest = ATTACKS.filter((attack) => !proven.includes(attack));
    const list = rest.map(
      (attack) => `  ${attack.program}: ${excuse(attack, identity, triedAs(attack, 'unfenced'))}`,
    );
    console.log(
      `as ${identity}: ${proven.length} of ${ATTACKS.length} attacks work without a fence\n${list.join('\n')}`,
    );
    expect(proven.length).toBeGreaterThanOrEqual(PROVEN_MIN);
  });

  function triedAs({ program }: { program: string }, way: Way): Tried {
    const tried = results.get(program)?.[way];
    if (tried === undefined) throw new Error(`${program} was not run`);
    return tried;
  }
}

/** Why an attack that does not work even without a fence is no mistake of the attack: the kernel itself said no. */
function excuse(attack: Attack, identity: Identity, { output }: Tried): string | undefined {
  const [said] = /^stopped: .*/m.exec(output) ?? [];
  if (said === undefined) return undefined;
  if (attack.unfencedNeedsRoot && identity !== 'root' && LACKS_PRIVILEGE.test(said))
    return `needs root, ${said}`;
  return attack.kernelStops?.test(said) ? `this kernel has it not, ${said}` : undefined;
}

/** A program that never started is stopped too, but shows nothing. */
function wasTried(attack: Attack, { code, output, limit }: Tried): boolean {
  if (attack.judged === 'by the output kept') return output.length > 0;
  if (attack.judged !== undefined && code === 0) return /^planted: /m.test(output);
  // whoever takes too much may be ended before it can say a word
  return /^stopped: /m.test(output) || (limit !== undefined && limit === limitNameOf(attack));
}
