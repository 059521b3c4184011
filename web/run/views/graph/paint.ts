/** Paints a graph on a canvas as it looks in the page: lines always, boxes where no button stands for them. */
import type { BoxLook } from './box-look.ts';
import type { Camera } from './camera.ts';
import type { Colors } from './colors.ts';
import { PIPS_A_ROW, type GraphBox, type GraphLine, type GraphModel, type Rectangle } from './graph-model.ts';

export interface Picture {
  model: GraphModel;
  look(box: GraphBox): BoxLook;
  chosen: GraphBox | undefined;
  /** Drawn dark: what leads to the chosen one. */
  dark: ReadonlySet<GraphLine>;
  /** Those that are buttons now. */
  buttons: ReadonlySet<GraphBox>;
}

/** Below this scale there is nothing to read. */
const READABLE = 0.35;
const FINE_LINES = 0.2;

export function paint(
  context: CanvasRenderingContext2D,
  picture: Picture,
  camera: Camera,
  size: { width: number; height: number; ratio: number },
  colors: Colors,
): void {
  const { x, y, scale } = camera;
  const { width, height, ratio } = size;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  context.setTransform(ratio * scale, 0, 0, ratio * scale, ratio * x, ratio * y);
  const seen = { x: -x / scale, y: -y / scale, width: width / scale, height: height / scale };
  paintFrames(context, picture, seen, colors, scale);
  paintLines(context, picture, seen, colors, scale);
  for (const box of picture.model.boxes) {
    if (!touches(box, seen) || picture.buttons.has(box)) continue;
    if (scale < READABLE) paintBlock(context, box, picture, colors, scale);
    else if (box.kind === 'frame') paintHead(context, box, picture.look(box), colors);
    else paintBox(context, box, picture, colors);
  }
}

export function touches(one: Rectangle, other: Rectangle): boolean {
  return (
    one.x <= other.x + other.width &&
    one.x + one.width >= other.x &&
    one.y <= other.y + other.height &&
    one.y + one.height >= other.y
  );
}

function paintFrames(
  context: CanvasRenderingContext2D,
  { model, look, chosen }: Picture,
  seen: Rectangle,
  colors: Colors,
  scale: number,
): void {
  for (const box of model.boxes) {
    if (box.kind !== 'frame' || !touches(box, seen)) continue;
    context.beginPath();
    context.roundRect(box.x, box.y, box.width, box.height, 14);
    context.strokeStyle = box === chosen ? colors.ink : colors.tones[look(box).tone].border;
    context.lineWidth = box === chosen ? 2 : Math.max(1, 0.7 / scale);
    context.stroke();
  }
}

function paintLines(
  context: CanvasRenderingContext2D,
  { model, look, dark }: Picture,
  seen: Rectangle,
  colors: Colors,
  scale: number,
): void {
  const isFine = scale >= FINE_LINES;
  for (const isDark of [false, true]) {
    context.beginPath();
    for (const line of isDark ? dark : model.lines) {
      if (!touches(line.bounds, seen) || (!isDark && dark.has(line))) continue;
      trace(context, line, isFine ? line.from.y + look(line.from).height : line.from.y, isFine);
    }
    context.strokeStyle = isDark ? colors.ink : colors.edge;
    context.lineWidth = isDark ? 2 : Math.max(1.4, 0.6 / scale);
    context.stroke();
  }
}

function trace(
  context: CanvasRenderingContext2D,
  { stops }: GraphLine,
  startY: number,
  isFine: boolean,
): void {
  const [first] = stops;
  context.moveTo(first!.x, startY);
  for (let n = 1; n < stops.length; n++) {
    const [from, to] = [stops[n - 1]!, stops[n]!];
    if (!isFine) {
      context.lineTo(to.x, to.enterY);
      continue;
    }
    const middle = (from.exitY + to.enterY) / 2;
    context.lineTo(from.x, from.exitY);
    context.bezierCurveTo(from.x, middle, to.x, middle, to.x, to.enterY);
  }
}

function paintBlock(
  context: CanvasRenderingContext2D,
  box: GraphBox,
  { look, chosen }: Picture,
  colors: Colors,
  scale: number,
): void {
  if (box.kind === 'frame') return;
  const { tone, height } = look(box);
  context.fillStyle = colors.tones[tone].border;
  context.fillRect(box.x, box.y, box.width, height);
  if (box !== chosen) return;
  context.strokeStyle = colors.ink;
  context.lineWidth = 2 / scale;
  context.strokeRect(box.x, box.y, box.width, height);
}

function paintBox(
  context: CanvasRenderingContext2D,
  box: GraphBox,
  { look, chosen }: Picture,
  colors: Colors,
): void {
  const seen = look(box);
  const { full, border } = colors.tones[seen.tone];
  const isStill = seen.tone === 'still';
  context.beginPath();
  context.roundRect(box.x + 0.5, box.y + 0.5, box.width - 1, seen.height - 1, 10);
  if (!isStill) {
    context.fillStyle = colors.paper;
    context.fill();
  }
  context.lineWidth = 1;
  context.strokeStyle = isStill ? colors.edge : seen.tone === 'good' ? colors.line : border;
  if (isStill) context.setLineDash([3, 3]);
  context.stroke();
  context.setLineDash([]);
  if (box === chosen) {
    context.beginPath();
    context.roundRect(box.x - 1, box.y - 1, box.width + 2, seen.height + 2, 11);
    context.lineWidth = 2;
    context.strokeStyle = colors.ink;
    context.stroke();
  }
  paintHead(context, box, seen, colors);
  paintPips(context, box, seen, colors);
  if (seen.does === '' || seen.height <= 50) return;
  context.fillStyle = colors.line;
  context.fillRect(box.x + 11, box.y + 51, box.width - 22, 1);
  context.font = `11px ${colors.mono}`;
  context.fillStyle = full;
  context.fillText(fit(context, seen.does, box.width - 22), box.x + 11, box.y + 68);
}

function paintHead(context: CanvasRenderingContext2D, box: GraphBox, seen: BoxLook, colors: Colors): void {
  const { full, soft } = colors.tones[seen.tone];
  context.beginPath();
  context.arc(box.x + 20, box.y + 19, 9, 0, 2 * Math.PI);
  context.fillStyle = soft;
  context.fill();
  context.textAlign = 'center';
  context.font = `700 10.5px ${colors.sans}`;
  context.fillStyle = full;
  context.fillText(seen.sign, box.x + 20, box.y + 22.5);
  context.textAlign = 'left';
  const room = box.width - 49;
  context.font = `620 13.5px ${colors.sans}`;
  context.fillStyle = colors.ink;
  const label = fit(context, seen.label, room);
  context.fillText(label, box.x + 38, box.y + 23.5);
  if (seen.nth !== '' && label === seen.label) {
    const after = context.measureText(label).width + 6;
    context.font = `11.5px ${colors.sans}`;
    context.fillStyle = colors.quiet;
    context.fillText(seen.nth, box.x + 38 + after, box.y + 23.5);
  }
  context.font = `11.5px ${colors.sans}`;
  context.fillStyle = colors.quiet;
  context.fillText(fit(context, seen.detail, room), box.x + 38, box.y + 40);
}

function paintPips(context: CanvasRenderingContext2D, box: GraphBox, seen: BoxLook, colors: Colors): void {
  const [left, top] = [box.x + 38, box.y + 49];
  for (const [n, { tone, sign }] of seen.pips.entries()) {
    const x = left + (n % PIPS_A_ROW) * 21;
    const y = top + Math.floor(n / PIPS_A_ROW) * 21;
    context.beginPath();
    context.roundRect(x, y, 17, 17, 5);
    context.fillStyle = colors.tones[tone].soft;
    context.fill();
    context.fillStyle = colors.tones[tone].full;
    context.font = `700 10.5px ${colors.sans}`;
    context.textAlign = 'center';
    context.fillText(sign, x + 8.5, y + 12.5);
    context.textAlign = 'left';
  }
  const all = seen.bar.reduce((sum, { count }) => sum + count, 0);
  let x = left;
  for (const { tone, count } of seen.bar) {
    const width = ((box.width - 49) * count) / Math.max(1, all);
    context.fillStyle = colors.tones[tone].full;
    context.fillRect(x, top + 5, width, 7);
    x += width;
  }
}

/** As much of a text as there is room for. Whatever is far too long is not even measured. */
function fit(context: CanvasRenderingContext2D, text: string, width: number): string {
  const first = text.slice(0, 120);
  if (context.measureText(first).width <= width) return first;
  let [low, high] = [0, first.length];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (context.measureText(`${first.slice(0, middle)}…`).width <= width) low = middle;
    else high = middle - 1;
  }
  return `${first.slice(0, low).toWellFormed()}…`;
}
