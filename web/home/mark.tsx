/** The name of the page, and the way home. */
import type { ReactNode } from 'react';

export function Mark(): ReactNode {
  return (
    <a className="mark" href="/">
      <svg width="20" height="20" viewBox="0 0 20 20" aria-hidden="true">
        <path d="M2 5h9M2 10h16M6 15h8" stroke="currentColor" strokeWidth="2.6" strokeLinecap="round" />
      </svg>
      bosun
    </a>
  );
}
