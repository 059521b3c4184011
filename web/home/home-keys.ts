/** The keys of Home: j and k choose, Enter opens; what answers works on what is chosen alone. */
import { useState } from 'react';
import { isYesNo } from '../../src/contract/question.ts';
import { useCommands, type Command } from '../app/commands.tsx';
import { go, runHref } from '../app/router.ts';
import { useMay } from '../data/session.ts';
import { giveAnswer } from '../questions/answers.ts';
import { answerCli } from '../questions/question-words.tsx';
import { useReplaced } from '../questions/replaced.ts';
import { useNotice } from '../parts/notice.tsx';
import { needHref, type HomeView, type Need } from './home-model.ts';
import { goOn, goOnCli, goOnLabel } from './go-on.ts';

export function useHomeKeys({ needs, atWork, unmerged, earlier }: HomeView): {
  chosen: string | undefined;
  choose(key: string): void;
} {
  const [wanted, setWanted] = useState<string>();
  const notice = useNotice();
  const mayAct = useMay('run');
  const rows = [...atWork, ...unmerged, ...earlier].map((row) => ({
    key: `row ${row.key}`,
    href: runHref(row.repository, row.glance.run.id),
  }));
  const all = [...needs.map((need) => ({ key: need.key, href: needHref(need) })), ...rows];
  // Where only one thing asks, it is the one that is meant.
  const meant = wanted ?? (needs.length === 1 ? needs[0]!.key : undefined);
  const at = all.findIndex(({ key }) => key === meant);
  const chosen = at === -1 ? undefined : all[at]!;
  const step = (by: 1 | -1) => () => {
    const next = at === -1 ? (by === 1 ? 0 : all.length - 1) : Math.min(all.length - 1, Math.max(0, at + by));
    const { key } = all[next] ?? {};
    setWanted(key);
    requestAnimationFrame(() =>
      document.querySelector('[aria-current=true]')?.scrollIntoView({ block: 'nearest' }),
    );
  };
  const need = needs.find(({ key }) => key === chosen?.key);
  // One that was chosen by hand is the one that is meant.
  const isNew = useReplaced(wanted === undefined ? need?.key : 'chosen');
  useCommands([
    { id: 'next-row', label: 'Next', keys: 'j', isDisabled: all.length === 0, run: step(1) },
    { id: 'last-row', label: 'Before', keys: 'k', isDisabled: all.length === 0, run: step(-1) },
    ...(chosen ? [{ id: 'open-row', label: 'Open', keys: 'Enter', run: () => go(chosen.href) }] : []),
    ...(need && mayAct ? actsOn(need, isNew, (error) => notice.bad(error)) : []),
  ]);
  return { chosen: chosen?.key, choose: setWanted };
}

function actsOn(need: Need, isNew: () => boolean, failed: (error: unknown) => void): Command[] {
  const { repository, glance } = need;
  const { run } = glance;
  if (need.kind !== 'question')
    return [
      {
        id: 'go-on',
        label: goOnLabel(run.state),
        keys: 'r',
        cli: goOnCli(run.id),
        run: () => void goOn(repository, run.id).catch(failed),
      },
    ];
  const { question } = need;
  if (!isYesNo(question) || question.budget) return [];
  const say = (answer: string) => () => {
    if (!isNew())
      giveAnswer({ repository, run: run.id, id: question.id, askedAtMs: question.askedAtMs }, { answer });
  };
  return [
    { id: 'yes', label: 'Answer yes', keys: 'y', cli: answerCli(question, run.id, 'yes'), run: say('yes') },
    { id: 'no', label: 'Answer no', keys: 'x', cli: answerCli(question, run.id, 'no'), run: say('no') },
  ];
}
