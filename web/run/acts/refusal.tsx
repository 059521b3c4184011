/** Why the server did not do what was asked, in its own words. */
import type { ReactNode } from 'react';
import type { Problem } from '../../data/api.ts';
import { plain, plainText } from '../../parts/plain.ts';
import './acts.css';

/** Of a check also what it printed. */
export function Refusal({ problem }: { problem: Problem }): ReactNode {
  return (
    <div className="refusal" role="alert">
      <p>{plain(problem.message, 2000)}</p>
      {problem.output !== undefined && problem.output !== '' && (
        <pre className="wants" tabIndex={0} aria-label="What the check printed">
          {plainText(problem.output)}
        </pre>
      )}
    </div>
  );
}
