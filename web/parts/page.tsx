/** A page that is neither Home nor a run: its title, the way back, and what it holds. */
import type { ReactNode } from 'react';
import './page.css';

export function Page({
  title,
  right,
  children,
}: {
  title: ReactNode;
  right?: ReactNode;
  children: ReactNode;
}): ReactNode {
  return (
    <>
      <header className="page-top">
        <h1>
          <a href="/" title="All runs">
            ‹<span> bosun /</span>
          </a>{' '}
          {title}
        </h1>
        {right !== undefined && <div className="page-right">{right}</div>}
      </header>
      <main className="page">{children}</main>
    </>
  );
}
