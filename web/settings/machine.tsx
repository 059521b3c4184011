/** What this machine has, as the doctor finds it, and what is configured with where each value comes from. It changes neither. */
import type { ReactNode } from 'react';
import type { Configuration } from '../../src/contract/config-outputs.ts';
import { repositoryPath } from '../data/api.ts';
import type { Finding } from '../new/findings.ts';
import { useAsked } from '../parts/use-asked.ts';
import { Asked, Section } from './section.tsx';

const SIGNS: Record<Finding['level'], [sign: string, tone: string]> = {
  ok: ['✓', 'good'],
  warn: ['!', 'ask'],
  fail: ['✗', 'bad'],
  none: ['–', 'still'],
};

export function Agents({ repository }: { repository: string }): ReactNode {
  const doctor = useAsked<Finding[]>(`${repositoryPath(repository)}/doctor`);
  return (
    <Section title="This machine" cli="bosun doctor">
      <Asked of={doctor} waits="Trying the fences, and looking for agents…">
        {(findings) => (
          <ul className="settings-rows findings">
            {findings.map(({ name, level, found, advice }, n) => (
              <li key={n}>
                <span className={`sign ${SIGNS[level][1]}`} role="img" aria-label={level}>
                  {SIGNS[level][0]}
                </span>
                <b>{name}</b>
                <span>
                  {found}
                  {advice !== undefined && <span className="quiet"> · {advice}</span>}
                </span>
              </li>
            ))}
          </ul>
        )}
      </Asked>
    </Section>
  );
}

const FROM = {
  environment: 'the environment',
  repository: 'the repository',
  user: 'your file',
  default: 'default',
};

export function Configured({ repository }: { repository: string }): ReactNode {
  const config = useAsked<Configuration>(`${repositoryPath(repository)}/config`);
  return (
    <Section title="Configuration" cli="bosun config set …">
      <Asked of={config}>
        {({ values, files }) => (
          <>
            <div className="settings-scroll" tabIndex={0} role="region" aria-label="All keys">
              <table>
                <thead>
                  <tr>
                    <th scope="col">Key</th>
                    <th scope="col">Value</th>
                    <th scope="col">From</th>
                  </tr>
                </thead>
                <tbody>
                  {values.map(({ key, value, from, where, over, about }) => (
                    <tr key={key} title={about}>
                      <th scope="row">
                        <code>{key}</code>
                      </th>
                      <td>
                        {value === null ? (
                          <span className="quiet">–</span>
                        ) : (
                          <code>{typeof value === 'string' ? value : JSON.stringify(value)}</code>
                        )}
                      </td>
                      <td className={from === 'default' ? 'quiet' : ''}>
                        {FROM[from]}
                        {where !== undefined && <code className="quiet"> {where}</code>}
                        {over.length > 0 && (
                          <span className="quiet">
                            {' '}
                            before {over.map((each) => FROM[each.from]).join(', ')}
                          </span>
                        )}
                      </td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </div>
            <p className="quiet">
              Your file: <code>{files.user}</code>
            </p>
          </>
        )}
      </Asked>
    </Section>
  );
}
