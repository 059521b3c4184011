/** The colours, types and tones of the page, for the report too: the same as web/app/tokens.css, which a test holds. */

export const TOKENS = `
:root {
  --ground: #f7f7f5;
  --paper: #ffffff;
  --line: #e4e3df;
  --soft: #f1f0ed;
  --edge: #cfcdc6;
  --ink: #1c1b19;
  --quiet: #6b6963;
  --link: #1f5fbf;
  --good: #187a48;
  --good-soft: #e3f3ea;
  --bad: #c0362c;
  --bad-soft: #fbe9e7;
  --busy: #1a66b5;
  --busy-soft: #e5effa;
  --ask: #8f5b00;
  --ask-soft: #fbf0da;
  --still: #6a6760;
  --still-soft: #efeeeb;
  --ask-ground: #fdf8ec;
  --ask-line: #ecdcb4;
  --sans: system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', 'Noto Sans', sans-serif;
  --mono:
    ui-monospace, 'SF Mono', 'Cascadia Code', 'JetBrains Mono', Menlo, Consolas, 'DejaVu Sans Mono', monospace;
  color-scheme: light dark;
}

@media (prefers-color-scheme: dark) {
  :root {
    --ground: #141416;
    --paper: #1c1c1f;
    --line: #313136;
    --soft: #242428;
    --edge: #48484f;
    --ink: #ecebe8;
    --quiet: #a09e98;
    --link: #86b4f5;
    --good: #5cc98c;
    --good-soft: #17301f;
    --bad: #f2857b;
    --bad-soft: #3a1d1b;
    --busy: #7db5f0;
    --busy-soft: #172a40;
    --ask: #e3b15c;
    --ask-soft: #35280f;
    --still: #98958e;
    --still-soft: #2a2a2e;
    --ask-ground: #1f1b13;
    --ask-line: #4a3a1a;
  }
}

.good {
  --tone: var(--good);
  --tone-soft: var(--good-soft);
}
.bad {
  --tone: var(--bad);
  --tone-soft: var(--bad-soft);
}
.busy {
  --tone: var(--busy);
  --tone-soft: var(--busy-soft);
}
.ask {
  --tone: var(--ask);
  --tone-soft: var(--ask-soft);
}
.still {
  --tone: var(--still);
  --tone-soft: var(--still-soft);
}
`;
