import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { ATTACKS, ORDINARY } from './attacks.ts';

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
