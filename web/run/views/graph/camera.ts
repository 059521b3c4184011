/** Which part of a graph is seen, and how large. Pure geometry. */
import type { Rectangle } from './graph-model.ts';

export interface Camera {
  /** Where the graph's own corner is, in pixels of the view. */
  x: number;
  y: number;
  scale: number;
}

export interface Size {
  width: number;
  height: number;
}

const SCALE_MAX = 2;
const PAD = 20;
/** Smaller than this there is nothing to read: rather a part of it. */
const FIRST_SCALE_MIN = 0.6;
const SCALE_MIN = 0.02;

/** All of it, no larger than it is. */
export function fitAll(graph: Size, view: Size): Camera {
  const scale = Math.max(
    SCALE_MIN,
    Math.min(1, (view.width - 2 * PAD) / graph.width, (view.height - 2 * PAD) / graph.height),
  );
  return placed(graph, view, scale);
}

/** As it is first seen: all of it where that can be read, else its beginning, or what is chosen. */
export function firstCamera(graph: Size, view: Size, chosen: Rectangle | undefined): Camera {
  const all = fitAll(graph, view);
  if (all.scale >= FIRST_SCALE_MIN) return all;
  const camera = placed(graph, view, FIRST_SCALE_MIN + (1 - FIRST_SCALE_MIN) * 0.4);
  return chosen ? showing(camera, chosen, view) : camera;
}

/** Moved as little as it takes to see all of the box. */
export function showing(camera: Camera, box: Rectangle, view: Size): Camera {
  const { scale } = camera;
  const into = (at: number, from: number, length: number, room: number): number => {
    const [start, end] = [at + from * scale, at + (from + length) * scale];
    if (start < PAD) return at + PAD - start;
    return end > room - PAD ? at + room - PAD - end : at;
  };
  return {
    scale,
    x: into(camera.x, box.x, box.width, view.width),
    y: into(camera.y, box.y, box.height, view.height),
  };
}

/** What is at this point of the view stays there. */
export function zoomed(camera: Camera, factor: number, at: { x: number; y: number }): Camera {
  const scale = Math.min(SCALE_MAX, Math.max(SCALE_MIN, camera.scale * factor));
  const by = scale / camera.scale;
  return { scale, x: at.x - (at.x - camera.x) * by, y: at.y - (at.y - camera.y) * by };
}

/** Never so far that nothing of the graph is left to be seen. */
export function kept(camera: Camera, graph: Size, view: Size): Camera {
  const { scale } = camera;
  const within = (at: number, length: number, room: number): number =>
    Math.min(room - 3 * PAD, Math.max(3 * PAD - length * scale, at));
  return {
    scale,
    x: within(camera.x, graph.width, view.width),
    y: within(camera.y, graph.height, view.height),
  };
}

function placed(graph: Size, view: Size, scale: number): Camera {
  const wide = graph.width * scale;
  const high = graph.height * scale;
  return {
    scale,
    x: wide <= view.width ? (view.width - wide) / 2 : PAD,
    y: high <= view.height - 2 * PAD ? Math.min(8, (view.height - high) / 2) : 8,
  };
}
