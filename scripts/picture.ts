/** Takes the picture of a run that the README shows: a real run in a real terminal (tmux), drawn as SVG. */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const COLUMNS = 92;
const ROWS = 22;
const LOOK_MS = 100;
const LOOKS_MAX = 300;

const CELL = { width: 8.4, height: 19 };
const MARGIN = 16;
const FONT_SIZE = 14;
const BACKGROUND = '#16191f';
const FOREGROUND = '#d6dae2';
/** SGR codes 31 to 36 as terminals with a dark background show them. */
const COLORS: Record<number, string> = {
  31: '#f2777a',
  32: '#8fcf7f',
  33: '#e8c468',
  34: '#7aa6f2',
  35: '#c79bec',
  36: '#63c9d1',
};

interface Style {
  color?: string;
  bold?: boolean;
  dim?: boolean;
}

/** A screen with its escape sequences, as `tmux capture-pane -e` gives it, as an SVG image. */
export function drawScreen(screen: string, title: string): string {
  const lines = screen.replace(/\n+$/, '').split('\n');
  const width = COLUMNS * CELL.width + 2 * MARGIN;
  const height = lines.length * CELL.height + 2 * MARGIN;
  let style: Style = {};
  const rows = lines.flatMap((line, row) => {
    const texts: string[] = [];
    let column = 0;
    for (const [n, part] of line.split('\u001b[').entries()) {
      const end = n === 0 ? -1 : part.indexOf('m');
      if (n > 0) style = restyle(style, part.slice(0, end));
      const text = part.slice(end + 1);
      const lead = text.length - text.trimStart().length;
      if (text.trim() !== '') texts.push(drawText(text.trim(), column + lead, row, style));
      column += [...text].length;
    }
    return texts;
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 0 ${round(width)} ${round(height)}" width="${round(width)}" height="${round(height)}">`,
    `<title>${escape(title)}</title>`,
    `<rect width="100%" height="100%" rx="8" fill="${BACKGROUND}"/>`,
    `<g font-family="ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace" font-size="${FONT_SIZE}" fill="${FOREGROUND}">`,
    ...rows,
    '</g>',
    '</svg>',
    '',
  ].join('\n');
}

/** The length is given, so that columns stand in line whatever font there is. */
function drawText(text: string, column: number, row: number, { color, bold, dim }: Style): string {
  const x = round(MARGIN + column * CELL.width);
  const y = round(MARGIN + row * CELL.height + CELL.height * 0.75);
  const look = [
    color === undefined ? '' : ` fill="${color}"`,
    bold ? ' font-weight="bold"' : '',
    dim ? ' opacity="0.6"' : '',
  ].join('');
  const length = round([...text].length * CELL.width);
  return `<text x="${x}" y="${y}" textLength="${length}" lengthAdjust="spacingAndGlyphs" xml:space="preserve"${look}>${escape(text)}</text>`;
}

function restyle(before: Style, codes: string): Style {
  let style = { ...before };
  for (const code of codes.split(';').map(Number)) {
    const color = COLORS[code];
    if (code === 0) style = {};
    else if (code === 1) style.bold = true;
    else if (code === 2) style.dim = true;
    else if (code === 22) style = { ...style, bold: false, dim: false };
    else if (code === 39) delete style.color;
    else if (color !== undefined) style.color = color;
  }
  return style;
}

function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

/** How much there is to see: tasks that run, with some done before them. */
function worth(screen: string): number {
  const count = (word: string): number => screen.split(word).length - 1;
  return Math.min(count('✓'), 4) + 2 * Math.min(count('● running'), 3) + Math.min(count('reviewing for'), 3);
}

async function takePicture(root: string): Promise<string> {
  const repository = mkdtempSync(path.join(tmpdir(), 'bosun-picture-'));
  const tmux = (...args: string[]): string =>
    execFileSync('tmux', ['-L', `bosun-picture-${process.pid}`, '-f', '/dev/null', ...args], {
      encoding: 'utf8',
    });
  const git = (...args: string[]): Buffer => execFileSync('git', args, { cwd: repository });
  try {
    cpSync(path.join(root, 'examples/calculator'), repository, { recursive: true });
    git('init', '--quiet', '--initial-branch=main');
    git('add', '--all');
    git('-c', 'user.name=demo', '-c', 'user.email=demo@localhost', 'commit', '--quiet', '-m', 'Start');
    const shell = `cd ${repository}; clear; printf '$ bosun run\\n'; ${path.join(root, 'bin/bosun')} run; sleep 60`;
    tmux('new-session', '-d', '-x', String(COLUMNS), '-y', String(ROWS), 'sh', '-c', shell);
    let best = '';
    for (let look = 0; look < LOOKS_MAX; look++) {
      await sleep(LOOK_MS);
      const screen = tmux('capture-pane', '-p', '-e');
      if (screen.includes('bosun merge')) break;
      if (worth(screen) >= worth(best)) best = screen;
    }
    tmux('kill-server');
    return best;
  } finally {
    rmSync(repository, { recursive: true, force: true });
  }
}

if (import.meta.main) {
  const root = path.resolve(import.meta.dirname, '..');
  const screen = await takePicture(root);
  writeFileSync(path.join(root, 'docs/run.svg'), drawScreen(screen, 'bosun run, half way through'));
  process.stdout.write(screen);
}
