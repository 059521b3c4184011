/** Asks a person at the terminal for a yes. */
import { createInterface } from 'node:readline';
import { writeError } from './output.ts';

/** Ctrl-C and a closed terminal mean no. */
export function confirm(question: string): Promise<boolean> {
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  return new Promise((resolve) => {
    const leave = (): void => {
      writeError('\n');
      resolve(false);
    };
    lines.once('close', leave);
    lines.question(question, (answer) => {
      lines.off('close', leave);
      lines.close();
      resolve(/^y(es)?$/i.test(answer.trim()));
    });
  });
}
