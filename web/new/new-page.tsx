/** Start a run. */
import type { ReactNode } from 'react';
import { Page } from '../parts/page.tsx';

export function NewPage(_props: { query: URLSearchParams }): ReactNode {
  return <Page title="Start a run">{null}</Page>;
}
