/** What all runs of a user may spend today and this month, and raising it for that day or month. */
import { useState, type ReactNode } from 'react';
import type { SharedBudgetView } from '../../src/contract/outputs.ts';
import { ask, repositoryPath } from '../data/api.ts';
import { useNotice } from '../parts/notice.tsx';
import { useAsked } from '../parts/use-asked.ts';
import { Asked, Section } from './section.tsx';

export function SharedBudgets({
  repository,
  mayRaise,
}: {
  repository: string;
  mayRaise: boolean;
}): ReactNode {
  const path = `${repositoryPath(repository)}/shared-budget`;
  const budgets = useAsked<SharedBudgetView[]>(path);
  return (
    <Section title="What all runs may spend" cli="bosun budget --shared">
      <Asked of={budgets}>
        {(all) =>
          all.length === 0 ? (
            <p className="quiet">
              There is no limit for a day or a month. Set one:{' '}
              <code>bosun config set budget.usd-per-day 20</code>
            </p>
          ) : (
            <ul className="settings-budgets">
              {all.map((budget) => (
                <Budget
                  key={budget.account}
                  {...budget}
                  path={path}
                  mayRaise={mayRaise}
                  again={budgets.again}
                />
              ))}
            </ul>
          )
        }
      </Asked>
    </Section>
  );
}

interface BudgetProps extends SharedBudgetView {
  path: string;
  mayRaise: boolean;
  again(): void;
}

function Budget({ account, spentUsd, limitUsd, path, mayRaise, again }: BudgetProps): ReactNode {
  const notice = useNotice();
  const [usd, setUsd] = useState('');
  const [whose, period] = account.split(':') as [string, 'day' | 'month'];
  const what = `${period === 'day' ? 'Today' : 'This month'}, ${whose === 'all' ? 'all repositories' : 'this repository'}`;
  const isMore = Number(usd) > limitUsd;
  const raise = async (): Promise<void> => {
    try {
      await ask(path, {
        method: 'PUT',
        body: { [period === 'day' ? 'usdPerDay' : 'usdPerMonth']: Number(usd) },
      });
      setUsd('');
      notice.good(`${what}: up to $${Number(usd).toFixed(2)}`);
    } catch (error) {
      notice.bad(error);
    }
    again();
  };
  return (
    <li>
      <span>
        {what} <b>${spentUsd.toFixed(2)}</b> of ${limitUsd.toFixed(2)}
      </span>
      <meter aria-label={what} min={0} max={Math.max(limitUsd, 0.01)} value={Math.min(spentUsd, limitUsd)} />
      {mayRaise && (
        <form
          className="settings-line"
          onSubmit={(event) => {
            event.preventDefault();
            if (isMore) void raise();
          }}
        >
          <input
            className="field short"
            aria-label={`New limit in dollars: ${what}`}
            inputMode="decimal"
            placeholder={`$${(limitUsd * 1.5).toFixed(2)}`}
            value={usd}
            onChange={({ target }) => setUsd(target.value)}
          />
          <button className="act" disabled={!isMore} title={`bosun budget --usd-per-${period} ${usd || '…'}`}>
            Raise
          </button>
        </form>
      )}
    </li>
  );
}
