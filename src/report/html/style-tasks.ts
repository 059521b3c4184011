/** The style of the list of tasks and of diffs; a part of the page's style. */

export const TASK_STYLE = `
.filters { display: flex; flex-wrap: wrap; gap: 6px; margin-bottom: 12px; }
.filters input { position: absolute; opacity: 0; }
.filters label { font-size: 13px; padding: 3px 12px; border: 1px solid var(--line); border-radius: 99px; background: var(--paper); cursor: pointer; }
.filters label span { color: var(--quiet); font-variant-numeric: tabular-nums; }
.filters input:checked + label { background: var(--ink); border-color: var(--ink); color: var(--ground); }
.filters input:checked + label span { color: inherit; opacity: .7; }
.filters input:focus-visible + label { outline: 2px solid var(--link); outline-offset: 2px; }
main:has(#show-failed:checked) .task:not(.is-failed), main:has(#show-changed:checked) .task:not(.is-changed) { display: none; }
.tasks { background: var(--paper); border: 1px solid var(--line); border-radius: 12px; overflow: hidden; }
.task { content-visibility: auto; contain-intrinsic-size: auto 45px; border-top: 1px solid var(--line); }
.task:first-child { border-top: 0; }
.task > summary {
  display: grid; grid-template-columns: 104px minmax(0, 1fr) max-content 92px 58px; gap: 14px; align-items: baseline;
  padding: 10px 18px; cursor: pointer; list-style: none;
}
.task > summary::-webkit-details-marker { display: none; }
.task > summary:hover { background: var(--soft); }
.task[open] > summary { background: var(--soft); }
.who { min-width: 0; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.who b { font-weight: 600; margin-right: 12px; }
.title { color: var(--quiet); font-size: 14px; }
.facts, .time { color: var(--quiet); font-size: 13px; white-space: nowrap; }
.time { text-align: right; font-variant-numeric: tabular-nums; }
.delta { font-size: 12.5px; white-space: nowrap; text-align: right; font-variant-numeric: tabular-nums; }
.depth-1 .who { padding-left: 18px; } .depth-2 .who { padding-left: 36px; } .depth-3 .who { padding-left: 54px; }
.body { padding: 6px 18px 24px; }
.body:target { box-shadow: inset 3px 0 var(--link); }
.body h3:first-child { margin-top: 12px; }
.callout { background: var(--tone-soft); color: var(--tone); border-radius: 8px; padding: 9px 14px; margin: 12px 0; overflow-wrap: anywhere; }
.meta { display: flex; flex-wrap: wrap; gap: 4px 28px; margin-top: 12px; font-size: 13.5px; }
.meta div { display: flex; gap: 8px; }
.meta dt { color: var(--quiet); }
.plain { border-collapse: collapse; width: 100%; font-size: 13.5px; }
.plain th { text-align: left; font-weight: 400; color: var(--quiet); font-size: 12.5px; }
.plain th, .plain td { padding: 4px 18px 4px 0; vertical-align: baseline; }
.plain th:last-child, .plain td:last-child { padding-right: 0; }
.plain th.time, .plain .sum { text-align: right; }
.plain .sum { font-variant-numeric: tabular-nums; white-space: nowrap; }
.plain tfoot td { border-top: 1px solid var(--line); font-weight: 600; }
.costs { background: var(--paper); border: 1px solid var(--line); border-radius: 12px; padding: 12px 18px; }
.costs + .notes { margin-top: 12px; }
.plain code { white-space: nowrap; }
.told { color: var(--quiet); }
.told summary, .file summary { cursor: pointer; }
.files { font-size: 13px; columns: 2; column-gap: 32px; }
.files li { break-inside: avoid; padding: 1px 0; }
.change { color: var(--quiet); display: inline-block; min-width: 62px; }
.change.added { color: var(--good); } .change.deleted { color: var(--bad); }
pre { margin: 0; padding: 12px 14px; background: var(--soft); border-radius: 8px; white-space: pre-wrap; line-height: 1.55; max-height: 420px; overflow: auto; }
.told pre { margin-top: 6px; }
.log .stderr { color: var(--bad); }
.log .check { color: var(--busy); }
.log .setup, .log .turn { color: var(--quiet); }
.log .turn { font-family: system-ui, sans-serif; font-size: 12px; }
.file { border: 1px solid var(--line); border-radius: 8px; margin-bottom: 10px; overflow: hidden; }
.file summary { display: flex; gap: 10px; align-items: baseline; padding: 6px 12px; background: var(--soft); }
.file .path { font-family: var(--mono); font-size: 12.5px; font-weight: 600; overflow-wrap: anywhere; }
.file .delta { margin-left: auto; }
.tag { font-size: 12px; color: var(--quiet); white-space: nowrap; }
.diff { border-collapse: collapse; width: 100%; line-height: 1.6; tab-size: 4; }
.diff td { padding: 0 14px 0 8px; white-space: pre; overflow-wrap: normal; }
.diff td[data-n] { width: 1%; min-width: 42px; padding: 0 8px; text-align: right; color: var(--quiet); user-select: none; }
.diff td[data-n]::before { content: attr(data-n); font-size: 11.5px; opacity: .8; }
.diff .added td { background: var(--good-soft); }
.diff .removed td { background: var(--bad-soft); }
.diff .hunk td { color: var(--busy); background: var(--busy-soft); padding: 2px 12px; }
.diff .note td { color: var(--quiet); padding: 2px 12px; }
.notes li { padding: 3px 0 3px 18px; text-indent: -18px; }
.notes li::before { content: '·'; display: inline-block; width: 18px; text-indent: 0; color: var(--quiet); }
@media (max-width: 720px) {
  main { padding: 28px 16px 64px; }
  h1 { font-size: 24px; }
  .badge.large { display: inline-flex; margin: 10px 0 0; }
  .tiles { grid-template-columns: 1fr 1fr; gap: 18px; }
  .tile:first-child { grid-column: 1 / -1; }
  .next ul { grid-template-columns: 1fr; gap: 0; }
  .next li { display: block; padding: 5px 0; }
  .next li span { display: block; }
  .timeline { grid-template-columns: 96px 1fr; gap: 0 10px; }
  .bar .inside, .bars .odd { display: none; }
  .task > summary { grid-template-columns: max-content minmax(0, 1fr) max-content; gap: 2px 10px; padding: 10px 12px; }
  .task > summary .facts { grid-row: 2; grid-column: 1 / 3; }
  .task > summary .delta { grid-row: 2; grid-column: 3; }
  .task > summary .title { display: none; }
  .task > summary .time { grid-row: 1; grid-column: 3; }
  .body { padding: 4px 12px 20px; }
  .files { columns: 1; }
}
@media print {
  .filters, .next { display: none; }
  .task { content-visibility: visible; }
}
`;
