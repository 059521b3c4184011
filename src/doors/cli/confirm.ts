/** Asks a person at the terminal. */
import { createInterface } from 'node:readline';
import { writeError } from './output.ts';

/** For a yes. Ctrl-C and a closed terminal mean no. */
export async function confirm(question: string): Promise<boolean> {
  return /^y(es)?$/i.test((await promptFor(question))?.trim() ?? '');
}

/** For a line; undefined for Ctrl-C and a closed terminal. */
export function promptFor(question: string): Promise<string | undefined> {
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  return new Promise((resolve) => {
    const leave = (): void => {
      writeError('\n');
      resolve(undefined);
    };
    lines.once('close', leave);
    lines.question(question, (answer) => {
      lines.off('close', leave);
      lines.close();
      resolve(answer);
    });
  });
}
