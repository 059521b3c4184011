/** Draws the graph of a run as SVG: a box per task with its state in words, groups around their own. */
import type { RunReport } from '../../contract/report.ts';
import { chooseBoxes, type Box } from '../graph/boxes.ts';
import { layOut, pathOf, type Point } from '../graph/layout.ts';
import { type Markup, markup } from './markup.ts';
import { fitColumns } from '../text/columns.ts';
import { spellControls } from '../text/plain.ts';
import { glyphOf, toneOf } from '../words.ts';

const BOX = { width: 178, height: 50 };
const GROUP = { side: 12, head: 40, foot: 12 };

interface Drawn {
  width: number;
  height: number;
  /** What to draw, given the place of its top left corner. */
  draw: (at: Point) => Markup;
}

export function renderGraph(report: RunReport, anchorOf: (task: string) => string | null): Markup {
  const { boxes, note } = chooseBoxes(report);
  const { width, height, draw } = drawLevel(boxes, anchorOf);
  const pad = 2;
  return markup`<div class="scroll" tabindex="0" role="region" aria-label="Graph of tasks"><svg class="graph" xmlns="http://www.w3.org/2000/svg" width="${width + 2 * pad}" height="${height + 2 * pad}" viewBox="${-pad} ${-pad} ${width + 2 * pad} ${height + 2 * pad}"><defs><marker id="arrow" viewBox="0 0 6 6" refX="5.5" refY="3" markerWidth="6" markerHeight="6" orient="auto"><path class="tip" d="M0 0L6 3L0 6z"/></marker></defs>${draw({ x: 0, y: 0 })}</svg></div>${note === null ? null : markup`<p class="note">${note}</p>`}`;
}

function drawLevel(boxes: Box[], anchorOf: (task: string) => string | null): Drawn {
  const drawn = new Map(boxes.map((box) => [box.id, drawBox(box, anchorOf)]));
  const layout = layOut(
    boxes.map(({ id, needs }) => {
      const { width, height } = drawn.get(id)!;
      return { id, needs, width, height };
    }),
  );
  return {
    width: layout.width,
    height: layout.height,
    draw: ({ x, y }) => {
      const lines = layout.lines.map(
        (line) => markup`<path class="line" d="${pathOf(line)}" marker-end="url(#arrow)"/>`,
      );
      const inner = boxes.map(({ id }) => drawn.get(id)!.draw(layout.at.get(id)!));
      return markup`<g transform="translate(${x} ${y})">${lines}${inner}</g>`;
    },
  };
}

function drawBox(box: Box, anchorOf: (task: string) => string | null): Drawn {
  if (box.inside.length > 0) return drawGroup(box, anchorOf);
  return {
    ...BOX,
    draw: ({ x, y }) =>
      linked(
        box,
        anchorOf,
        markup`<g class="box ${toneOf(box.state)}" transform="translate(${x} ${y})">${title(box)}<rect class="frame" width="${BOX.width}" height="${BOX.height}" rx="8"/><circle class="dot" cx="21" cy="25" r="10"/><text class="glyph" x="21" y="29.5" text-anchor="middle">${glyphOf(box.state)}</text><text class="label" x="40" y="21.5">${short(box.label, 18)}</text><text class="detail" x="40" y="37.5">${short(box.detail, 26)}</text></g>`,
      ),
  };
}

function drawGroup(box: Box, anchorOf: (task: string) => string | null): Drawn {
  const inner = drawLevel(box.inside, anchorOf);
  const width = inner.width + 2 * GROUP.side;
  const height = inner.height + GROUP.head + GROUP.foot;
  return {
    width,
    height,
    draw: ({ x, y }) =>
      markup`<g class="group ${toneOf(box.state)}" transform="translate(${x} ${y})">${linked(box, anchorOf, markup`<g>${title(box)}<rect class="fence" width="${width}" height="${height}" rx="12"/><text class="label" x="${GROUP.side + 2}" y="17.5">${short(box.label, 20)}</text><text class="detail" x="${GROUP.side + 2}" y="31.5">${short(box.detail, 27)}</text></g>`)}${inner.draw({ x: GROUP.side, y: GROUP.head })}</g>`,
  };
}

function linked(box: Box, anchorOf: (task: string) => string | null, content: Markup): Markup {
  const anchor = box.task === null ? null : anchorOf(box.task);
  return anchor === null ? content : markup`<a href="#${anchor}">${content}</a>`;
}

function title(box: Box): Markup {
  return markup`<title>${box.label}: ${box.detail}</title>`;
}

function short(text: string, columns: number): string {
  return fitColumns(spellControls(text), columns);
}
