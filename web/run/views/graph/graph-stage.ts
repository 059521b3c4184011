/**
 * The graph under the hand: its camera, its canvas, and what drag, wheel and pinch do to them. While it moves all of it is
 * painted; at rest the boxes nearest to the middle are real buttons, which the view puts there.
 *
 *   resting ──(drag, wheel, keys)──▶ moving ──(nothing for a moment)──▶ resting
 */
import { firstCamera, fitAll, kept, showing, zoomed, type Camera, type Size } from './camera.ts';
import { readColors, type Colors } from './colors.ts';
import type { GraphBox } from './graph-model.ts';
import { paint, touches, type Picture } from './paint.ts';

export interface Rest {
  camera: Camera;
  buttons: readonly GraphBox[];
}

const BUTTONS_MAX = 150;
const REST_MS = 140;
const DRAG_PX = 4;

interface Grip {
  pointers: Map<number, { x: number; y: number }>;
  isDrag: boolean;
}

export class GraphStage {
  readonly #host: HTMLElement;
  readonly #canvas: HTMLCanvasElement;
  readonly #onRest: (rest: Rest) => void;
  readonly #ended = new AbortController();
  readonly #observer: ResizeObserver;
  readonly #grip: Grip = { pointers: new Map(), isDrag: false };
  #picture: Omit<Picture, 'buttons'> | undefined;
  #buttons: ReadonlySet<GraphBox> = new Set();
  #camera: Camera = { x: 0, y: 0, scale: 1 };
  #size: Size = { width: 0, height: 0 };
  #colors: Colors | undefined;
  /** Somebody has moved it: it stays where they put it. */
  #isMoved = false;
  #frame = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(host: HTMLElement, canvas: HTMLCanvasElement, onRest: (rest: Rest) => void) {
    this.#host = host;
    this.#canvas = canvas;
    this.#onRest = onRest;
    const { signal } = this.#ended;
    host.addEventListener('pointerdown', (event) => this.#press(event), { signal });
    host.addEventListener('pointermove', (event) => this.#drag(event), { signal });
    for (const name of ['pointerup', 'pointercancel'] as const)
      host.addEventListener(name, (event) => this.#release(event), { signal });
    // After a drag, the click on whatever is there is not meant.
    host.addEventListener('click', (event) => this.#grip.isDrag && event.stopPropagation(), {
      signal,
      capture: true,
    });
    host.addEventListener('wheel', (event) => this.#wheel(event), { signal, passive: false });
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.#recolor(), { signal });
    this.#observer = new ResizeObserver(() => this.#resize());
    this.#observer.observe(host);
  }

  end(): void {
    this.#ended.abort();
    this.#observer.disconnect();
    cancelAnimationFrame(this.#frame);
    clearTimeout(this.#timer);
  }

  /** What is to be seen from now on. The same model is painted anew, where it is. */
  show(picture: Omit<Picture, 'buttons'>): void {
    const before = this.#picture;
    this.#picture = picture;
    if (!before) return this.#resize();
    if (before.model === picture.model) return this.#paint();
    if (!this.#isMoved) this.#camera = firstCamera(picture.model, this.#size, picture.chosen);
    this.#rest();
  }

  fit(): void {
    if (!this.#picture) return;
    this.#isMoved = true;
    this.#camera = fitAll(this.#picture.model, this.#size);
    this.#rest();
  }

  zoom(factor: number): void {
    this.#move(zoomed(this.#camera, factor, { x: this.#size.width / 2, y: this.#size.height / 2 }));
    this.#rest();
  }

  /** By so many pixels, as a drag does. */
  pan(x: number, y: number): void {
    this.#move({ ...this.#camera, x: this.#camera.x + x, y: this.#camera.y + y });
  }

  /** Moves it where the box is not seen. */
  reveal(box: GraphBox): void {
    const camera = showing(this.#camera, box, this.#size);
    if (camera.x === this.#camera.x && camera.y === this.#camera.y && this.#buttons.has(box)) return;
    this.#isMoved = true;
    this.#camera = camera;
    this.#rest();
  }

  boxAt({ clientX, clientY }: { clientX: number; clientY: number }): GraphBox | undefined {
    const at = this.#pointOf({ clientX, clientY });
    const { x, y, scale } = this.#camera;
    const point = { x: (at.x - x) / scale, y: (at.y - y) / scale, width: 0, height: 0 };
    return this.#picture?.model.boxes.findLast((box) => touches(box, point));
  }

  #resize(): void {
    const { clientWidth: width, clientHeight: height } = this.#host;
    const ratio = devicePixelRatio;
    this.#size = { width, height };
    this.#canvas.width = Math.round(width * ratio);
    this.#canvas.height = Math.round(height * ratio);
    if (!this.#picture || width === 0) return;
    if (!this.#isMoved) this.#camera = firstCamera(this.#picture.model, this.#size, this.#picture.chosen);
    this.#rest();
  }

  #recolor(): void {
    this.#colors = undefined;
    this.#paint();
  }

  #move(camera: Camera): void {
    if (!this.#picture) return;
    this.#isMoved = true;
    this.#camera = kept(camera, this.#picture.model, this.#size);
    this.#host.classList.add('moving');
    this.#buttons = new Set();
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#rest(), REST_MS);
    if (this.#frame !== 0) return;
    this.#frame = requestAnimationFrame(() => {
      this.#frame = 0;
      this.#paint();
    });
  }

  #rest(): void {
    clearTimeout(this.#timer);
    if (!this.#picture) return;
    const { scale, x, y } = this.#camera;
    const { width, height } = this.#size;
    const seen = { x: -x / scale, y: -y / scale, width: width / scale, height: height / scale };
    const middle = { x: seen.x + seen.width / 2, y: seen.y + seen.height / 2 };
    const far = (box: GraphBox): number =>
      Math.hypot(box.x + box.width / 2 - middle.x, box.y + box.height / 2 - middle.y);
    let near = this.#picture.model.boxes.filter((box) => touches(box, seen));
    if (near.length > BUTTONS_MAX) {
      const kept = new Set(near.toSorted((a, b) => far(a) - far(b)).slice(0, BUTTONS_MAX));
      near = near.filter((box) => kept.has(box));
    }
    this.#buttons = new Set(near);
    this.#onRest({ camera: this.#camera, buttons: near });
    this.#host.classList.remove('moving');
    this.#paint();
  }

  #paint(): void {
    const context = this.#canvas.getContext('2d');
    if (!context || !this.#picture || this.#size.width === 0) return;
    this.#colors ??= readColors(this.#host);
    const size = { ...this.#size, ratio: devicePixelRatio };
    paint(context, { ...this.#picture, buttons: this.#buttons }, this.#camera, size, this.#colors);
  }

  #press(event: PointerEvent): void {
    if (event.button !== 0) return;
    const { pointers } = this.#grip;
    if (pointers.size === 0) this.#grip.isDrag = false;
    pointers.set(event.pointerId, { x: event.clientX, y: event.clientY });
  }

  #drag(event: PointerEvent): void {
    const { pointers } = this.#grip;
    const from = pointers.get(event.pointerId);
    if (!from) return;
    const to = { x: event.clientX, y: event.clientY };
    const [dx, dy] = [to.x - from.x, to.y - from.y];
    if (!this.#grip.isDrag) {
      if (Math.hypot(dx, dy) < DRAG_PX) return;
      this.#grip.isDrag = true;
      this.#host.setPointerCapture(event.pointerId);
    }
    const other = [...pointers].find(([id]) => id !== event.pointerId)?.[1];
    pointers.set(event.pointerId, to);
    if (!other) return this.pan(dx, dy);
    const before = Math.hypot(from.x - other.x, from.y - other.y);
    const after = Math.hypot(to.x - other.x, to.y - other.y);
    const middle = this.#pointOf({ clientX: (to.x + other.x) / 2, clientY: (to.y + other.y) / 2 });
    if (before > 0) this.#move(zoomed(this.#camera, after / before, middle));
  }

  #release(event: PointerEvent): void {
    this.#grip.pointers.delete(event.pointerId);
  }

  #wheel(event: WheelEvent): void {
    event.preventDefault();
    if (event.shiftKey) return this.pan(-event.deltaY - event.deltaX, 0);
    // A pinch on a touchpad comes as a wheel with the control key, in smaller steps.
    const factor = Math.exp(-event.deltaY * (event.ctrlKey ? 0.01 : 0.0015));
    this.#move(zoomed(this.#camera, factor, this.#pointOf(event)));
  }

  #pointOf({ clientX, clientY }: { clientX: number; clientY: number }): { x: number; y: number } {
    const { left, top } = this.#host.getBoundingClientRect();
    return { x: clientX - left, y: clientY - top };
  }
}
