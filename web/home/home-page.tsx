/** Home: what needs a person, what is at work, what is done, over all repositories. */
import { useEffect, useMemo, useRef, useState, type ReactNode } from 'react';
import { CommandButton, Keys, useCommands } from '../app/commands.tsx';
import { changeQuery, go, usePlace } from '../app/router.ts';
import type { Home, RepositoryAt } from '../data/home-store.ts';
import { useLink } from '../data/link.ts';
import { useMay } from '../data/session.ts';
import { useHome } from '../data/use-home.ts';
import { useNow } from '../parts/since.ts';
import { homeView, type HomeView, type Need } from './home-model.ts';
import { Mark } from './mark.tsx';
import { EmptyHome, HomeProblem } from './empty-home.tsx';
import { Needs } from './needs.tsx';
import { Rail } from './rail.tsx';
import { RunRows } from './run-rows.tsx';
import { Sentence } from './sentence.tsx';
import { Today } from './today.tsx';
import { useHomeKeys } from './home-keys.ts';
import './home.css';

export function HomePage(): ReactNode {
  const home = useHome();
  const link = useLink();
  const nowMs = useNow(link.state === 'live');
  const filter = usePlace().query.get('repository');
  const isLost = link.state === 'lost';
  return (
    <div className={`home${isLost ? ' is-lost' : ''}`}>
      <PhoneBar isLost={isLost} />
      <Rail home={home} chosen={filter} nowMs={nowMs} />
      {home.state === 'open' ? (
        <OpenHome home={home} filter={filter} nowMs={nowMs} />
      ) : home.state === 'problem' ? (
        <HomeProblem problem={home.problem} again={home.again} />
      ) : (
        <main aria-busy="true" aria-label="Runs" />
      )}
    </div>
  );
}

function PhoneBar({ isLost }: { isLost: boolean }): ReactNode {
  return (
    <header className="bar-phone">
      <Mark />
      <span className={`live${isLost ? ' lost' : ''}`}>{isLost ? 'not live · trying' : 'live'}</span>
    </header>
  );
}

function OpenHome({
  home,
  filter,
  nowMs,
}: {
  home: Extract<Home, { state: 'open' }>;
  filter: string | null;
  nowMs: number;
}): ReactNode {
  const shown = useMemo(
    () => home.repositories.filter(({ name }) => filter === null || name === filter),
    [home.repositories, filter],
  );
  const view = homeView(shown, nowMs);
  const mayStart = useMay('run');
  const { choose, chosen } = useHomeKeys(view);
  const count = homeView(home.repositories, nowMs).needs.length;
  useEffect(() => {
    document.title = count === 0 ? 'bosun' : `(${count}) bosun`;
  }, [count]);
  const needs = useLingeringNeeds(view.needs);
  if (shown.every(({ runs, problem }) => runs.length === 0 && problem === undefined))
    return <EmptyHome repositories={shown} filter={filter} mayStart={mayStart} />;
  return (
    <main>
      <div className="head">
        <Sentence view={view} filter={filter} />
        {mayStart && (
          <button
            className="act main"
            title="bosun run"
            aria-keyshortcuts="n"
            onClick={() => go(filter === null ? '/new' : `/new?repository=${encodeURIComponent(filter)}`)}
          >
            Start a run <Keys keys="n" />
          </button>
        )}
      </div>
      {filter !== null && <OneRepository />}
      <Problems repositories={shown} />
      <Needs needs={needs} open={view.needs} nowMs={nowMs} chosen={chosen} choose={choose} />
      <div className="split">
        <Lists view={view} nowMs={nowMs} chosen={chosen} />
        <Today repositories={shown} nowMs={nowMs} />
      </div>
    </main>
  );
}

function OneRepository(): ReactNode {
  const command = {
    id: 'all-repositories',
    label: 'All repositories',
    keys: 'Escape',
    run: () => changeQuery({ repository: null }),
  };
  useCommands([command]);
  return (
    <p className="only">
      <CommandButton command={command} />
    </p>
  );
}

/** What could not be read, and that the rest holds. */
function Problems({ repositories }: { repositories: readonly RepositoryAt[] }): ReactNode {
  return repositories.map(
    ({ name, problem }) =>
      problem !== undefined && (
        <p key={name} className="trouble" role="alert">
          <b>{name}</b> could not be read: {problem}. What is shown of it may be old.
        </p>
      ),
  );
}

function Lists({
  view,
  nowMs,
  chosen,
}: {
  view: HomeView;
  nowMs: number;
  chosen: string | undefined;
}): ReactNode {
  return (
    <div>
      <RunRows title="At work" rows={view.atWork} nowMs={nowMs} chosen={chosen} />
      <RunRows title="Done, not merged" rows={view.unmerged} nowMs={nowMs} chosen={chosen} />
      <RunRows title="Earlier" rows={view.earlier} nowMs={nowMs} chosen={chosen} isPast />
    </div>
  );
}

/** How long what was settled stays where it was: nothing moves under who reads it. */
const LINGER_MS = 4000;

function useLingeringNeeds(needs: readonly Need[]): readonly Need[] {
  const seen = useRef(new Map<string, { need: Need; goneAtMs: number | undefined }>());
  const [, again] = useState(0);
  const now = Date.now();
  const open = new Set(needs.map(({ key }) => key));
  for (const need of needs) seen.current.set(need.key, { need, goneAtMs: undefined });
  for (const [key, each] of seen.current) {
    if (open.has(key)) continue;
    each.goneAtMs ??= now;
    if (each.need.kind !== 'question' || now - each.goneAtMs > LINGER_MS) seen.current.delete(key);
  }
  const gone = [...seen.current.values()].filter(({ goneAtMs }) => goneAtMs !== undefined);
  useEffect(() => {
    if (gone.length === 0) return undefined;
    const timer = setTimeout(() => again((n) => n + 1), LINGER_MS);
    return () => clearTimeout(timer);
  }, [gone.length]);
  return gone.length === 0 ? needs : [...gone.map(({ need }) => need), ...needs];
}
