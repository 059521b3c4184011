/** Settings: who may come in, what is served, what all runs may spend, which agents there are, and what is configured. */
import { useEffect, type ReactNode } from 'react';
import type { ServedRepository } from '../../src/contract/serving-schema.ts';
import { changeQuery, usePlace } from '../app/router.ts';
import { endSession, useMay, useSession } from '../data/session.ts';
import { useNotice } from '../parts/notice.tsx';
import { Page } from '../parts/page.tsx';
import { useAsked } from '../parts/use-asked.ts';
import { Agents, Configured } from './machine.tsx';
import { Repositories } from './repositories.tsx';
import { SharedBudgets } from './shared-budgets.tsx';
import { Tokens } from './tokens.tsx';
import './settings.css';

export function SettingsPage(): ReactNode {
  const session = useSession();
  const notice = useNotice();
  const [mayRun, mayAll] = [useMay('run'), useMay('admin')];
  const { query } = usePlace();
  const repositories = useAsked<ServedRepository[]>('/api/repositories');
  const all = repositories.state === 'answered' ? repositories.value : [];
  const chosen = all.find(({ name }) => name === query.get('repository')) ?? all[0];
  useEffect(() => {
    document.title = 'Settings · bosun';
  }, []);
  if (session.state !== 'open') return null;
  const { role, by, version } = session.me;
  return (
    <Page title="Settings">
      <div className="settings">
        <p className="quiet">
          You are {by.name}, and may {WHAT[role]}. This is bosun {version}.{' '}
          <button className="as-link" onClick={() => void endSession().catch(notice.bad)}>
            Sign this browser out
          </button>
        </p>
        {by.kind === 'person' && mayAll && <Tokens />}
        {repositories.state === 'problem' && <p className="problem">{repositories.problem.message}</p>}
        {repositories.state === 'answered' && (
          <Repositories all={all} mayChange={mayAll} again={repositories.again} />
        )}
        {chosen && (
          <>
            {all.length > 1 && (
              <label className="settings-which">
                In{' '}
                <select
                  className="field"
                  value={chosen.name}
                  onChange={({ target }) => changeQuery({ repository: target.value })}
                >
                  {all.map(({ name }) => (
                    <option key={name}>{name}</option>
                  ))}
                </select>
              </label>
            )}
            <SharedBudgets key={`$ ${chosen.name}`} repository={chosen.name} mayRaise={mayAll} />
            {mayRun && <Agents key={`a ${chosen.name}`} repository={chosen.name} />}
            {mayAll && <Configured key={`c ${chosen.name}`} repository={chosen.name} />}
          </>
        )}
      </div>
    </Page>
  );
}

const WHAT = {
  read: 'look',
  run: 'look, and work with runs',
  admin: 'do everything',
};
