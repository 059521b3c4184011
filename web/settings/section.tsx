/** A part of the settings: its title, the command for it, and what it holds once that is there. */
import { useId, type ReactNode } from 'react';
import type { Answered } from '../parts/use-asked.ts';

export function Section({
  title,
  cli,
  children,
}: {
  title: string;
  cli: string;
  children: ReactNode;
}): ReactNode {
  const id = useId();
  return (
    <section aria-labelledby={id}>
      <h2 id={id}>
        {title} <code className="cmd">{cli}</code>
      </h2>
      {children}
    </section>
  );
}

/** What failed is said in its place; the rest of the page stands. */
export function Asked<T>({
  of,
  waits = 'Reading…',
  children,
}: {
  of: Answered<T> & { again(): void };
  waits?: string;
  children(value: T): ReactNode;
}): ReactNode {
  if (of.state === 'waiting') return <p className="quiet">{waits}</p>;
  if (of.state === 'answered') return children(of.value);
  return (
    <p className="problem" role="alert">
      {of.problem.message}{' '}
      <button className="act" onClick={of.again}>
        Try again
      </button>
    </p>
  );
}
