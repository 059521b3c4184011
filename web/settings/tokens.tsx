/** Tokens: who may come in from elsewhere. A new one is shown once, and kept nowhere in the page. */
import { useState, type ReactNode } from 'react';
import { ROLES, type Role } from '../../src/contract/role.ts';
import type { TokenView } from '../../src/contract/serving-schema.ts';
import { ask, pathPart } from '../data/api.ts';
import { Dialog, DialogEnd } from '../parts/dialog.tsx';
import { Field } from '../parts/field.tsx';
import { useNotice } from '../parts/notice.tsx';
import { useAsked } from '../parts/use-asked.ts';
import { Asked, Section } from './section.tsx';

const NAME = /^\w[\w.-]{0,63}$/;
const LASTING = ['1d', '30d', '90d', ''];

export function Tokens(): ReactNode {
  const tokens = useAsked<TokenView[]>('/api/tokens');
  const notice = useNotice();
  const [made, setMade] = useState<TokenView & { token: string }>();
  const [revoking, setRevoking] = useState<string>();
  const revoke = async (name: string): Promise<void> => {
    setRevoking(undefined);
    try {
      await ask(`/api/tokens/${pathPart(name)}`, { method: 'DELETE' });
      notice.good(`${name} is revoked: nobody gets in with it any more`);
    } catch (error) {
      notice.bad(error);
    }
    tokens.again();
  };
  return (
    <Section title="Who may come in" cli="bosun token list">
      <Asked of={tokens}>
        {(all) =>
          all.length === 0 ? (
            <p className="quiet">Nobody but you. A program, or somebody else, needs a token.</p>
          ) : (
            <ul className="settings-rows">
              {all.map(({ name, role, expiresAtMs }) => (
                <li key={name}>
                  <b>{name}</b> <span>{role}</span>
                  <span className="quiet">{expiryOf(expiresAtMs)}</span>
                  <button
                    className="act"
                    title={`bosun token revoke ${name}`}
                    onClick={() => setRevoking(name)}
                  >
                    Revoke<span className="unseen"> {name}</span>
                  </button>
                </li>
              ))}
            </ul>
          )
        }
      </Asked>
      <NewToken
        onMade={(token) => {
          setMade(token);
          tokens.again();
        }}
      />
      {made && (
        <Dialog title={`The token ${made.name}`} onClose={() => setMade(undefined)}>
          <p>It is shown this once. Whoever has it may come in; keep it like a password.</p>
          <code className="token">{made.token}</code>
          <DialogEnd>
            <button className="act" onClick={() => void navigator.clipboard?.writeText(made.token)}>
              Copy
            </button>
            <button className="act main" onClick={() => setMade(undefined)}>
              I have kept it
            </button>
          </DialogEnd>
        </Dialog>
      )}
      {revoking !== undefined && (
        <Dialog title={`Revoke ${revoking}?`} onClose={() => setRevoking(undefined)}>
          <p>Whoever uses it gets in no longer, from this moment on. It cannot be taken back.</p>
          <DialogEnd>
            <code className="cmd">bosun token revoke {revoking}</code>
            <button className="act" onClick={() => setRevoking(undefined)}>
              Keep it
            </button>
            <button className="act main" onClick={() => void revoke(revoking)}>
              Revoke it
            </button>
          </DialogEnd>
        </Dialog>
      )}
    </Section>
  );
}

function NewToken({ onMade }: { onMade(made: TokenView & { token: string }): void }): ReactNode {
  const [name, setName] = useState('');
  const [role, setRole] = useState<Role>('read');
  const [expires, setExpires] = useState('30d');
  const [problem, setProblem] = useState<string>();
  const make = async (): Promise<void> => {
    if (!NAME.test(name)) return setProblem('Letters, digits, dots and hyphens only, as in deploy-bot.');
    try {
      const body = { name, role, ...(expires !== '' && { expires }) };
      onMade(await ask('/api/tokens', { body }));
      setName('');
      return setProblem(undefined);
    } catch (error) {
      return setProblem((error as Error).message);
    }
  };
  return (
    <form
      className="settings-new"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        void make();
      }}
    >
      <Field label="New token" problem={problem}>
        {(given) => (
          <span className="settings-line">
            <input
              {...given}
              className="field"
              placeholder="deploy-bot"
              autoComplete="off"
              spellCheck={false}
              value={name}
              onChange={({ target }) => setName(target.value)}
            />
            <select
              className="field"
              aria-label="Role"
              value={role}
              onChange={({ target }) => setRole(target.value as Role)}
            >
              {ROLES.map((each) => (
                <option key={each}>{each}</option>
              ))}
            </select>
            <select
              className="field"
              aria-label="Lasts"
              value={expires}
              onChange={({ target }) => setExpires(target.value)}
            >
              {LASTING.map((each) => (
                <option key={each} value={each}>
                  {each === ''
                    ? 'until it is revoked'
                    : `for ${each.slice(0, -1)} ${each === '1d' ? 'day' : 'days'}`}
                </option>
              ))}
            </select>
            <button className="act" title={`bosun token add ${name || '…'} --role ${role}`}>
              Make it
            </button>
          </span>
        )}
      </Field>
    </form>
  );
}

function expiryOf(expiresAtMs: number | undefined): string {
  if (expiresAtMs === undefined) return 'until it is revoked';
  const until = new Date(expiresAtMs).toLocaleString();
  return expiresAtMs <= Date.now() ? `ended ${until}` : `until ${until}`;
}
