/** How it all stands, in one sentence: "3 things need you. 2 runs are at work, 1 is done and waits to be merged." */
import type { ReactNode } from 'react';
import type { HomeView } from './home-model.ts';

export function Sentence({ view, filter }: { view: HomeView; filter: string | null }): ReactNode {
  const { needs, atWork, unmerged } = view;
  const [asks, works, waits] = [needs.length, atWork.length, unmerged.length];
  const isQuiet = works === 0 && waits === 0;
  return (
    <h1 aria-live="polite">
      {filter !== null && <b>{filter}: </b>}
      {asks === 0 ? (
        isQuiet ? (
          'All quiet. Nothing needs you.'
        ) : (
          'Nothing needs you.'
        )
      ) : (
        <>
          <b className="asks">{asks === 1 ? '1 thing' : `${asks} things`}</b> {asks === 1 ? 'needs' : 'need'}{' '}
          you.
        </>
      )}{' '}
      {works > 0 && (
        <>
          <b>{works === 1 ? '1 run' : `${works} runs`}</b> {works === 1 ? 'is' : 'are'} at work
          {waits > 0 ? ', ' : '.'}
        </>
      )}
      {waits > 0 && (
        <>
          {works > 0 && <br />}
          {works > 0 ? waits : waits === 1 ? '1 run' : `${waits} runs`} {waits === 1 ? 'is' : 'are'} done and{' '}
          {waits === 1 ? 'waits' : 'wait'} to be merged.
        </>
      )}
    </h1>
  );
}
