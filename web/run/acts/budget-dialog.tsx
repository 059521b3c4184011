/** What a run has spent and may spend, account by account, and another limit for one of them. */
import { useEffect, useState, type FormEvent, type ReactNode } from 'react';
import { BUDGET_UNITS, type BudgetUnit } from '../../../src/contract/budget-units.ts';
import { tokensInAll } from '../../../src/contract/model.ts';
import type { AccountView, Budgets, BudgetSet } from '../../../src/contract/outputs.ts';
import { describeAccount, describeUnit } from '../../../src/schedule/money/budget-words.ts';
import { Keys } from '../../app/commands.tsx';
import { ask, runPath } from '../../data/api.ts';
import type { RunAt } from '../../film/run-at.ts';
import { Dialog, DialogEnd } from '../../parts/dialog.tsx';
import { useNotice } from '../../parts/notice.tsx';
import { plain } from '../../parts/plain.ts';
import { useAct } from '../../parts/use-act.ts';
import './acts.css';

const NAMES: Record<BudgetUnit, string> = {
  usd: 'dollars',
  tokens: 'tokens',
  requests: 'requests',
  minutes: 'minutes',
};

export function BudgetDialog({ at, onClose }: { at: RunAt; onClose(): void }): ReactNode {
  const { repository, run } = at;
  const path = `${runPath(repository, run.id)}/budget`;
  const [budgets, setBudgets] = useState<Budgets>();
  const [account, setAccount] = useState('run');
  const [unit, setUnit] = useState<BudgetUnit>('usd');
  const [value, setValue] = useState('');
  const notice = useNotice();
  useEffect(() => {
    const stop = new AbortController();
    ask<Budgets>(path, { signal: stop.signal }).then(setBudgets, (error: unknown) => notice.bad(error));
    return () => stop.abort();
  }, [path, notice]);
  const limit = Number(value);
  const [, kind, name] = /^(agent|task):(.+)$/.exec(account) ?? [];
  const set = useAct(async () => {
    const body = { [unit]: limit, ...(kind !== undefined && { [kind]: name }) };
    const { isLive } = await ask<BudgetSet>(path, { method: 'PUT', body });
    notice.good(
      `${describeAccount(account)} may spend ${describeUnit(unit, limit)}${isLive ? '' : ', once it goes on'}.`,
    );
    onClose();
  });
  const isFit = value.trim() !== '' && Number.isFinite(limit) && limit > 0;
  const onSubmit = (event: FormEvent): void => {
    event.preventDefault();
    if (isFit) set.act();
  };
  const accounts = budgets?.accounts ?? [];
  const whose = kind === undefined ? '' : ` --${kind} ${name}`;
  return (
    <Dialog title={`Budget of ${run.id}`} onClose={onClose}>
      {budgets === undefined && <p className="quiet">Reading…</p>}
      {accounts.map((each) => (
        <Account key={each.account} account={each} />
      ))}
      {budgets?.shared.map(({ account: shared, spentUsd, limitUsd }) => (
        <p key={shared} className="quiet">
          {describeAccount(shared)}: {describeUnit('usd', spentUsd)} of {describeUnit('usd', limitUsd)}
        </p>
      ))}
      <form onSubmit={onSubmit}>
        <div className="budget-form">
          <select
            className="field"
            aria-label="Whose limit"
            value={account}
            onChange={({ target }) => setAccount(target.value)}
          >
            {['run', ...accounts.map((each) => each.account).filter((each) => each !== 'run')].map((each) => (
              <option key={each} value={each}>
                {plain(describeAccount(each), 80)}
              </option>
            ))}
          </select>
          <input
            className="field"
            autoFocus
            inputMode="decimal"
            aria-label="New limit"
            placeholder={run.limits?.[unit] === undefined ? 'new limit' : String(run.limits[unit])}
            value={value}
            onChange={({ target }) => setValue(target.value.replace(/^\$/, ''))}
          />
          <select
            className="field"
            aria-label="Unit"
            value={unit}
            onChange={({ target }) => setUnit(target.value as BudgetUnit)}
          >
            {BUDGET_UNITS.map((each) => (
              <option key={each} value={each}>
                {NAMES[each]}
              </option>
            ))}
          </select>
        </div>
        <DialogEnd>
          <code className="cmd">{`bosun budget ${run.id} --${unit} ${isFit ? limit : '…'}${whose}`}</code>
          <button className="act main" disabled={!isFit || set.isAtWork}>
            Set the limit <Keys keys="Enter" />
          </button>
        </DialogEnd>
      </form>
    </Dialog>
  );
}

function Account({ account: { account, limits, spending } }: { account: AccountView }): ReactNode {
  const spent = { usd: spending.usd, tokens: tokensInAll(spending.tokens), requests: spending.requests };
  return BUDGET_UNITS.filter((unit) => limits[unit] !== undefined && unit !== 'minutes').map((unit) => {
    const [used, most] = [spent[unit as keyof typeof spent], limits[unit]!];
    const share = Math.min(1, used / Math.max(most, 1e-9));
    return (
      <div key={unit} className="account">
        <span>{plain(describeAccount(account), 80)}</span>
        <span className="quiet">
          {describeUnit(unit, used)} of {describeUnit(unit, most)}
        </span>
        <span className="meter">
          <i className={share >= 1 ? 'ask' : ''} style={{ width: `${share * 100}%` }} />
        </span>
      </div>
    );
  });
}
