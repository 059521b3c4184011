/** Left of Home: the repositories and how each stands, the way to find anything, and whether the page is live. */
import type { ReactNode } from 'react';
import { CommandButton, Keys, useAllCommands } from '../app/commands.tsx';
import type { Home, RepositoryAt } from '../data/home-store.ts';
import { useLink } from '../data/link.ts';
import { ago, clock } from '../parts/since.ts';
import { useNotifications } from '../questions/notifications.ts';
import { homeView } from './home-model.ts';
import { Mark } from './mark.tsx';

const COUNT = new Intl.NumberFormat('en-US');

export function Rail({
  home,
  chosen,
  nowMs,
}: {
  home: Home;
  chosen: string | null;
  nowMs: number;
}): ReactNode {
  const commands = useAllCommands();
  const find = commands.find(({ id }) => id === 'find');
  return (
    <nav className="rail" aria-label="Repositories">
      <Mark />
      {find && (
        <button className="find" onClick={() => find.run()}>
          <span>{find.label}</span>
          <span className="keys">
            <Keys keys={find.keys!} />
          </span>
        </button>
      )}
      {home.state === 'open' && (
        <div>
          <h2>Repositories</h2>
          <ul>
            {home.repositories.map((repository) => (
              <li key={repository.name}>
                <Repository repository={repository} isChosen={chosen === repository.name} nowMs={nowMs} />
              </li>
            ))}
          </ul>
        </div>
      )}
      <footer>
        <Notifications />
        <Liveness eventCount={home.state === 'open' ? home.eventCount : 0} />
        <span>
          <Keys keys="?" /> keys &nbsp; <Keys keys="n" /> start a run
        </span>
      </footer>
    </nav>
  );
}

function Notifications(): ReactNode {
  const notifications = useNotifications();
  if (notifications.state !== 'asked-for-none') return null;
  return <CommandButton command={{ id: 'notify', label: 'Notify me', run: notifications.request }} />;
}

function Liveness({ eventCount }: { eventCount: number }): ReactNode {
  const link = useLink();
  if (link.state === 'lost')
    return (
      <span className="live lost" role="status">
        not live since {new Date(link.sinceMs).toLocaleTimeString('en-GB')} · trying
      </span>
    );
  const heard =
    eventCount === 0 ? '' : ` · ${COUNT.format(eventCount)} ${eventCount === 1 ? 'event' : 'events'}`;
  return <span className="live">live{heard}</span>;
}

function Repository({
  repository,
  isChosen,
  nowMs,
}: {
  repository: RepositoryAt;
  isChosen: boolean;
  nowMs: number;
}): ReactNode {
  const { name, directory, branch, runs } = repository;
  const { needs, atWork, unmerged } = homeView([repository], nowMs);
  const failed = needs.filter(({ kind }) => kind === 'failed').length;
  const asks = needs.length - failed;
  const tags = [
    ['ask', '?', asks, 'ask'],
    ['bad', '✗', failed, 'failed'],
    ['busy', '●', atWork.length, 'at work'],
    ['good', '✓', unmerged.length, 'to merge'],
  ] as const;
  const standing = standingOf(repository, { works: atWork.length, ready: unmerged.length }, nowMs);
  return (
    <a
      className="repo"
      href={isChosen ? '/' : `/?repository=${encodeURIComponent(name)}`}
      aria-current={isChosen ? 'page' : undefined}
      title={directory}
    >
      <b>{name}</b>
      <small>{[branch, standing].filter((part) => part !== undefined && part !== '').join(' · ')}</small>
      {runs.length > 0 && (
        <span className="tags">
          {tags.map(
            ([tone, sign, count, word]) =>
              count > 0 && (
                <span key={word} className={tone}>
                  <span aria-hidden="true">{sign}</span> {count} <span className="unseen">{word}</span>
                </span>
              ),
          )}
        </span>
      )}
    </a>
  );
}

/** "2 runs at work", "nightly failed 04:12", "quiet for 3 days" */
function standingOf(
  { runs, problem }: RepositoryAt,
  { works, ready }: { works: number; ready: number },
  nowMs: number,
): string {
  if (problem !== undefined) return 'cannot be read';
  if (works > 0) return works === 1 ? '1 run at work' : `${works} runs at work`;
  const last = runs[0]?.run;
  if (!last) return 'no run yet';
  if (last.state === 'interrupted') return `${last.name} was interrupted`;
  if (last.state === 'failed')
    return `${last.name} failed ${clock(last.endedAtMs ?? last.createdAtMs, nowMs)}`;
  if (last.because === 'budget') return 'stopped at its budget';
  if (ready > 0) return 'ready to merge';
  return `last run ${ago(nowMs - (last.endedAtMs ?? last.createdAtMs))}`;
}
