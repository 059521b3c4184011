/** The style of the page. It loads nothing: fonts are the reader's own. Signs and words carry the state, colour repeats it. */

import { TOKENS } from './tokens.ts';

export const PAGE_STYLE = `
${TOKENS}* { box-sizing: border-box; }
html { scroll-padding-top: 5rem; -webkit-text-size-adjust: 100%; }
body {
  margin: 0; background: var(--ground); color: var(--ink);
  font: 14px/1.5 var(--sans); font-variant-numeric: tabular-nums;
}
main { max-width: 1140px; margin: 0 auto; padding: 48px 28px 96px; }
a { color: inherit; text-decoration: none; }
a:hover { color: var(--link); }
:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; border-radius: 4px; }
h1, h2, h3, p, ul, ol, dl, dd { margin: 0; padding: 0; }
ul, ol { list-style: none; }
h1 { font-size: 30px; line-height: 1.2; letter-spacing: -0.02em; font-weight: 650; overflow-wrap: anywhere; }
h2 { font-size: 17px; letter-spacing: -0.01em; font-weight: 620; margin-bottom: 14px; }
h3 { font-size: 12px; font-weight: 620; color: var(--quiet); margin: 22px 0 8px; }
code, pre, .diff { font-family: var(--mono); font-size: 12.5px; overflow-wrap: anywhere; }
section { margin-top: 44px; }
.quiet { --tone: var(--still); --tone-soft: var(--still-soft); }
.mark {
  display: inline-grid; place-items: center; width: 18px; height: 18px; border-radius: 50%; vertical-align: 1px;
  color: var(--tone); background: var(--tone-soft); font-size: 10.5px; font-weight: 700; line-height: 1;
}
.film { display: block; margin: 26px 0 0; overflow: visible; }
.film .bar-of { fill: var(--tone); }
.film .base { stroke: var(--line); }
.film .wait { stroke: var(--ask); stroke-dasharray: 2 3; }
.film text { fill: var(--ground); font-size: 9.5px; font-weight: 600; }
.badge {
  display: inline-flex; gap: 5px; align-items: baseline; white-space: nowrap; justify-self: start;
  color: var(--tone); background: var(--tone-soft); border-radius: 99px; padding: 1px 10px; font-size: 12.5px; font-weight: 560;
}
.badge.large { font-size: 14px; padding: 4px 14px; letter-spacing: 0; vertical-align: 4px; margin-left: 6px; }
.crumb, .lede, p.quiet, .note { color: var(--quiet); }
.crumb { font-size: 13.5px; margin-bottom: 4px; }
.lede { margin-top: 8px; font-size: 14px; }
.note { font-size: 13px; margin-top: 10px; }
.tiles { display: grid; grid-template-columns: 2.2fr 1fr 1.2fr 1fr; gap: 12px 40px; margin-top: 20px; }
.tile dt { font-size: 13px; color: var(--quiet); }
.tile dd { font-size: 26px; line-height: 1.25; font-weight: 600; letter-spacing: -0.02em; font-variant-numeric: tabular-nums; }
.tile dd.detail { font-size: 13.5px; font-weight: 400; letter-spacing: 0; color: var(--quiet); margin-top: 2px; }
.count { white-space: nowrap; margin-right: 10px; }
.plus { color: var(--good); } .minus { color: var(--bad); }
.next { background: var(--paper); border: 1px solid var(--line); border-radius: 12px; padding: 18px 22px; margin-top: 32px; }
.next h2 { margin-bottom: 8px; }
.next ul { display: grid; grid-template-columns: max-content 1fr; gap: 6px 22px; align-items: baseline; }
.next li { display: contents; }
.next li span { color: var(--quiet); font-size: 14px; }
.next code { user-select: all; font-size: 13px; font-weight: 600; }
.scroll { overflow-x: auto; }
.scroll:has(> .graph) { max-height: 640px; overflow: auto; }
.graph { display: block; max-width: none; }
.graph .line { fill: none; stroke: var(--still); stroke-opacity: .6; stroke-width: 1.3; }
.graph .tip { fill: var(--still); }
.graph .frame { fill: var(--paper); stroke: var(--line); }
.graph .bad > .frame, .graph .busy > .frame, .graph .ask > .frame { stroke: var(--tone); }
.graph a:hover .frame, .graph a:hover .fence { stroke: var(--link); }
.graph .fence { fill: var(--soft); stroke: var(--line); stroke-dasharray: 4 4; }
.graph .dot { fill: var(--tone-soft); }
.graph .glyph { fill: var(--tone); font-size: 12px; font-weight: 700; }
.graph .label { fill: var(--ink); font-size: 13px; font-weight: 600; }
.graph .detail { fill: var(--quiet); font-size: 10.5px; }
.timeline { display: grid; grid-template-columns: minmax(90px, max-content) 1fr; gap: 0 18px; max-height: 640px; overflow-y: auto; }
.names { padding-top: 24px; max-width: 220px; }
.names li { height: 26px; line-height: 26px; font-size: 13px; white-space: nowrap; overflow: hidden; text-overflow: ellipsis; }
.bars { display: block; overflow: visible; font-variant-numeric: tabular-nums; }
.bars .tick { stroke: var(--line); }
.bars .scale { fill: var(--quiet); font-size: 11px; }
.bar rect { fill: var(--tone-soft); stroke: var(--tone); stroke-opacity: .55; }
.bar .inside { fill: var(--tone); font-size: 11px; font-weight: 560; }
.pair { display: grid; gap: 0 28px; grid-template-columns: repeat(auto-fit, minmax(min(100%, 340px), 1fr)); }
.cards { display: grid; gap: 10px; grid-template-columns: repeat(auto-fill, minmax(min(100%, 340px), 1fr)); }
.card { background: var(--paper); border: 1px solid var(--line); border-radius: 10px; padding: 12px 16px; overflow-wrap: anywhere; }
.card .quiet { font-size: 13.5px; }
`;
