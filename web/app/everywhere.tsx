/** What can be done from every place: find something (⌘K), see the keys (?), go somewhere. */
import { useState, type ReactNode } from 'react';
import { useMay } from '../data/session.ts';
import { useSentNotifications } from '../questions/notifications.ts';
import { useCommands } from './commands.tsx';
import { KeysList } from './keys-list.tsx';
import { Palette } from './palette.tsx';
import { go, usePlace, type Place } from './router.ts';

export function Everywhere(): ReactNode {
  useSentNotifications();
  const [open, setOpen] = useState<'palette' | 'keys'>();
  const mayStart = useMay('run');
  const place = usePlace();
  const here = place.page === 'run' ? place.repository : place.query.get('repository');
  const close = (): void => setOpen(undefined);
  useCommands([
    { id: 'find', label: 'Find or do…', keys: 'mod+k', run: () => setOpen('palette') },
    { id: 'keys', label: 'All keys', keys: '?', cli: 'bosun help', run: () => setOpen('keys') },
    ...(mayStart
      ? [
          {
            id: 'new',
            label: 'Start a run',
            keys: 'n',
            cli: 'bosun run',
            run: () => go(here === null ? '/new' : `/new?repository=${encodeURIComponent(here)}`),
          },
        ]
      : []),
    { id: 'home', label: 'All runs', keys: 'g h', cli: 'bosun history', run: () => go('/') },
    {
      id: 'compare',
      label: 'Compare two runs',
      keys: 'g c',
      cli: 'bosun report',
      run: () => go(compareHref(place)),
    },
    { id: 'settings', label: 'Settings', keys: 'g s', cli: 'bosun doctor', run: () => go('/settings') },
  ]);
  if (open === 'palette') return <Palette onClose={close} />;
  if (open === 'keys') return <KeysList onClose={close} />;
  return null;
}

/** From a run with that run: alone it shows the candidates of its races. */
function compareHref(place: Place): string {
  return place.page === 'run'
    ? `/compare?a=${encodeURIComponent(`${place.repository}/${place.run}`)}`
    : '/compare';
}
