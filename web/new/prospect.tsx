/** What a run may cost and how long it may take, how much of it runs at once, and whether fences hold. */
import type { ReactNode } from 'react';
import type { Forecast } from '../../src/contract/totals-schema.ts';
import type { Workflow } from '../../src/contract/workflow.ts';
import { describeForecast } from '../../src/report/forecast-words.ts';
import { repositoryPath } from '../data/api.ts';
import { useAsked, type Answered } from '../parts/use-asked.ts';
import { fencesOf, type Finding } from './findings.ts';
import { useDoctor } from './use-doctor.ts';

export function Prospect({ repository, workflow }: { repository: string; workflow: Workflow }): ReactNode {
  const path = repositoryPath(repository);
  const doctor = useDoctor(repository);
  const forecast = useAsked<Forecast>(`${path}/forecast`, { query: { workflow: workflow.name } });
  const tasks = Object.keys(workflow.tasks).length;
  const agents = Object.keys(workflow.agents).length;
  return (
    <div className="new-prospect" role="status">
      <p>
        <b>{tasks}</b> {tasks === 1 ? 'task' : 'tasks'}, at most <b>{workflow.concurrency}</b> at once
        {agents > 0 && `, ${agents} ${agents === 1 ? 'agent' : 'agents'}`} · <Fences doctor={doctor} />
      </p>
      {forecast.state === 'answered' && <p>{sentence(describeForecast(forecast.value))}</p>}
    </div>
  );
}

/** It is tried out on this machine, which takes a moment. */
export function Fences({ doctor }: { doctor: Answered<Finding[]> }): ReactNode {
  if (doctor.state === 'waiting') return <span className="quiet">trying the fences…</span>;
  const found = doctor.state === 'answered' ? fencesOf(doctor.value) : undefined;
  if (!found) return <span className="quiet">nobody could say whether fences hold</span>;
  if (found.level === 'ok') return <span title={found.found}>fences ok</span>;
  return <span className={found.level === 'fail' ? 'minus' : 'warns'}>{found.found}</span>;
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}
