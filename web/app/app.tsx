/** The whole page: who may see it, and which view the address asks for. */
import { useEffect, type ReactNode } from 'react';
import { followKeys } from './commands.tsx';
import { openSession, useSession } from '../data/session.ts';
import { HomePage } from '../home/home-page.tsx';
import { RunPage } from '../run/run-page.tsx';
import { followLinks, usePlace } from './router.ts';
import { Locked, Nowhere, Unreachable } from './alone.tsx';

export function App(): ReactNode {
  const session = useSession();
  const place = usePlace();
  useEffect(followLinks, []);
  useEffect(followKeys, []);
  useEffect(() => void openSession(), []);
  if (session.state === 'asking') return null;
  if (session.state === 'locked') return <Locked />;
  if (session.state === 'unreachable') return <Unreachable />;
  switch (place.page) {
    case 'home':
      return <HomePage />;
    case 'run':
      return <RunPage repository={place.repository} run={place.run} query={place.query} />;
    default:
      return <Nowhere />;
  }
}
