/** The whole page: who may see it, which view the address asks for, and what can be done from everywhere. */
import { useEffect, type ReactNode } from 'react';
import { ComparePage } from '../compare/compare-page.tsx';
import { openSession, useSession } from '../data/session.ts';
import { HomePage } from '../home/home-page.tsx';
import { NewPage } from '../new/new-page.tsx';
import { Notices } from '../parts/notice.tsx';
import { RunPage } from '../run/run-page.tsx';
import { SettingsPage } from '../settings/settings-page.tsx';
import { Locked, Nowhere, Unreachable } from './alone.tsx';
import { Boundary } from './boundary.tsx';
import { followKeys } from './commands.tsx';
import { Everywhere } from './everywhere.tsx';
import { followLinks, usePlace, type Place } from './router.ts';

export function App(): ReactNode {
  const session = useSession();
  const place = usePlace();
  useEffect(followLinks, []);
  useEffect(followKeys, []);
  useEffect(() => void openSession(), []);
  if (session.state === 'asking') return null;
  if (session.state === 'locked') return <Locked />;
  if (session.state === 'unreachable') return <Unreachable why={session.why} />;
  return (
    <>
      <Everywhere />
      <Boundary key={keyOf(place)}>{viewOf(place)}</Boundary>
      <Notices />
    </>
  );
}

/** Elsewhere there may be no trouble. */
function keyOf(place: Place): string {
  return place.page === 'run' ? `${place.repository}/${place.run}` : place.page;
}

function viewOf(place: Place): ReactNode {
  switch (place.page) {
    case 'home':
      return <HomePage />;
    case 'run':
      return <RunPage repository={place.repository} run={place.run} query={place.query} />;
    case 'new':
      return <NewPage query={place.query} />;
    case 'compare':
      return <ComparePage query={place.query} />;
    case 'settings':
      return <SettingsPage />;
    default:
      return <Nowhere />;
  }
}
