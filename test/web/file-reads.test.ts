/** Files of a large diff are read two at a time, those that are wanted last first. */
import { expect, it } from 'vitest';
import { FileReads } from '../../web/task/diff/file-reads.ts';

it('reads two files at once, and of those that wait only what is still wanted', async () => {
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  const reads = new FileReads((path) => {
    begun.push(path);
    return new Promise((resolve) => ends.push(resolve));
  });
  const end = async (): Promise<void> => {
    ends.shift()!();
    await new Promise((resolve) => setImmediate(resolve));
  };
  reads.want(['a', 'b', 'c', 'd']);
  expect(begun).toEqual(['a', 'b']);
  await end();
  expect(begun).toEqual(['a', 'b', 'c']);
  reads.want(['b', 'c', 'y', 'z']); // what is under way is not asked for again
  expect(begun).toEqual(['a', 'b', 'c']);
  await end();
  await end();
  expect(begun).toEqual(['a', 'b', 'c', 'y', 'z']);
  await end();
  await end();
  expect(begun).toHaveLength(5);
});
