/** Compare. */
import type { ReactNode } from 'react';
import { Page } from '../parts/page.tsx';

export function ComparePage(_props: { query: URLSearchParams }): ReactNode {
  return <Page title="Compare">{null}</Page>;
}
