/** The first workflows that bosun can write, by name: words only. */

export const TEMPLATES = {
  hello: 'three plain commands; runs at once, with no agent and no key',
  'fix-tests': 'one agent works until the tests pass',
  'plan-build-review': 'one agent plans, one builds with the tests as its check, one reviews',
  'parallel-refactor': 'an agent for each part of the code, each in files of its own, then the tests',
  review: 'three reviews of the last commit at once, and one summary',
  triage: 'an issue is sorted; a bug is fixed, a question answered',
} as const;

export type TemplateName = keyof typeof TEMPLATES;
export const TEMPLATE_NAMES = Object.keys(TEMPLATES) as TemplateName[];
