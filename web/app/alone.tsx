/** What stands on the page alone where there is nothing to show: nobody let in, no server, no such place. */
import type { ReactNode } from 'react';
import { openSession } from '../data/session.ts';

export function Locked(): ReactNode {
  return (
    <main className="alone">
      <h1>This browser is not signed in.</h1>
      <p>
        Open the address that <code>bosun serve</code> printed: it ends with a token. If it is out of sight,
        stop the server and start it again; runs continue meanwhile.
      </p>
      <p>
        <code>bosun serve</code>
      </p>
    </main>
  );
}

/** `why`: in the server's own words, where it did answer. */
export function Unreachable({ why }: { why: string | undefined }): ReactNode {
  return (
    <main className="alone">
      <h1>{why === undefined ? 'The server does not answer.' : 'The server lets nobody in just now.'}</h1>
      <p>{why ?? 'Runs continue without it. Start it again, then try again here.'}</p>
      {why === undefined && (
        <p>
          <code>bosun serve</code>
        </p>
      )}
      <p>
        <button className="act main" onClick={() => void openSession()}>
          Try again
        </button>
      </p>
    </main>
  );
}

export function Nowhere(): ReactNode {
  return (
    <main className="alone">
      <h1>There is nothing at this address.</h1>
      <p>
        <a className="act" href="/">
          All runs <kbd>g</kbd> <kbd>h</kbd>
        </a>
      </p>
    </main>
  );
}
