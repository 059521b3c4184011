/**
 * What `web.ts` does and measures within the page, as a script that is put into it. Each function gives plain values;
 * what somebody does is over when the browser has drawn what came of it.
 */
globalThis.side = {
  firstPaintMs: () => performance.getEntriesByName('first-contentful-paint')[0].startTime,

  async clicked(name) {
    const button = [...document.querySelectorAll('button')].find((each) => each.textContent === name);
    return untilDrawn(() => button.click());
  },

  pressed: (key) =>
    untilDrawn(() => document.body.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }))),

  /** Moves the graph with each frame, for so long. */
  async panned(forMs) {
    const host = document.querySelector('.graph-view canvas').parentElement;
    const times = [await drawn()];
    while (times.at(-1) - times[0] < forMs) {
      const deltaY = Math.floor(times.length / 40) % 2 === 0 ? 24 : -24;
      host.dispatchEvent(
        new WheelEvent('wheel', { deltaY, shiftKey: true, bubbles: true, cancelable: true }),
      );
      times.push(await drawn());
    }
    const gaps = times.slice(1).map((ms, n) => ms - times[n]);
    const sorted = gaps.toSorted((a, b) => a - b);
    return {
      fps: (1000 * gaps.length) / (times.at(-1) - times[0]),
      p95Ms: sorted[Math.floor(gaps.length * 0.95)],
    };
  },

  /** To these parts of the run, one after the other: how long each takes. */
  async wound(shares) {
    const { film, at } = reel();
    const tookMs = [];
    for (const share of shares) {
      await new Promise((resolve) => setTimeout(resolve, 200));
      tookMs.push(await untilDrawn(() => film.dispatchEvent(new PointerEvent('pointerdown', at(share)))));
    }
    return tookMs;
  },

  /** From end to end and back: how many moments are shown a second. */
  async dragged(forMs) {
    const { film, at } = reel();
    const moments = new Set();
    const startedMs = performance.now();
    let last = '';
    let count = 0;
    while (performance.now() - startedMs < forMs) {
      const part = ((performance.now() - startedMs) / 2000) % 2;
      film.dispatchEvent(new PointerEvent('pointermove', at(0.98 * (part > 1 ? 2 - part : part))));
      await drawn();
      const now = film.getAttribute('aria-valuenow');
      if (now !== last) count += 1;
      last = now;
      moments.add(now);
    }
    return (1000 * count) / (performance.now() - startedMs);
  },

  /** Notes when each numbered line of the log is first on the screen, and each frame, until `watched` is asked for. */
  watch() {
    const frames = [];
    const firstMs = {};
    const onScreen = () => {
      const log = document.querySelector('.log');
      if (log.scrollTop + log.clientHeight < log.scrollHeight - 6) return;
      for (const { textContent } of log.querySelectorAll('.ev')) {
        const [said] = /(?:line|word) \d+\./.exec(textContent) ?? [];
        if (said !== undefined) firstMs[said] ??= Date.now();
      }
    };
    watching = { frames, firstMs, stop: eachFrame(onScreen, (ms) => frames.push(ms)) };
  },

  watched() {
    const { frames, firstMs, stop } = watching;
    stop();
    return { fps: (1000 * (frames.length - 1)) / (frames.at(-1) - frames[0]), firstMs };
  },

  /** The numbers of all lines of the log, from its first to its last, as somebody sees them who reads all of it. */
  async allLines() {
    const log = document.querySelector('.log');
    const numbers = new Map();
    for (let topPx = 0; ; topPx += log.clientHeight) {
      log.scrollTop = topPx;
      await drawn();
      await drawn();
      for (const row of log.querySelectorAll('.ev.out')) {
        const [, n] = /line (\d+)\./.exec(row.textContent) ?? [];
        if (n !== undefined) numbers.set(Number.parseFloat(row.style.top), Number(n));
      }
      if (topPx + log.clientHeight >= log.scrollHeight) break;
    }
    return [...numbers].sort(([a], [b]) => a - b).map(([, n]) => n);
  },

  /** From a key until there is such an element on the screen. */
  untilThere({ key, selector }) {
    const startedMs = performance.now();
    return new Promise((resolve, reject) => {
      const stop = eachFrame(() => {
        const tookMs = performance.now() - startedMs;
        const isThere = document.querySelector(selector) !== null;
        if (!isThere && tookMs < 20_000) return;
        stop();
        if (isThere) resolve(tookMs);
        else reject(new Error(`there is no ${selector}`));
      });
      side.pressed(key);
    });
  },

  /** Says yes, by its key; gives when. */
  saidYes() {
    const ms = Date.now();
    side.pressed('y');
    return ms;
  },

  /** With `fold`, which is that of the page. */
  folded(text) {
    const startedMs = performance.now();
    const run = new fold.RunFold();
    for (const line of text.split('\n')) if (line !== '') run.add(JSON.parse(line));
    run.tasks();
    return performance.now() - startedMs;
  },
};

let watching;

/** `look` is called as soon as a frame is on the screen. What it gives ends it. */
function eachFrame(look, began = () => {}) {
  const { port1, port2 } = new MessageChannel();
  let isOver = false;
  port1.addEventListener('message', () => isOver || look());
  port1.start();
  const frame = (ms) => {
    if (isOver) return;
    began(ms);
    port2.postMessage(undefined); // its turn comes after the drawing
    requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
  return () => {
    isOver = true;
    port1.close();
  };
}

function drawn() {
  return new Promise((resolve) => requestAnimationFrame(resolve));
}

async function untilDrawn(act) {
  const startedMs = performance.now();
  act();
  await drawn();
  await drawn();
  return performance.now() - startedMs;
}

/** The film, and events at a part of it, of a pointer that is none. */
function reel() {
  const film = document.querySelector('.film');
  const { left, top, width } = film.getBoundingClientRect();
  film.setPointerCapture = () => {};
  film.hasPointerCapture = () => true;
  const at = (share) => ({ clientX: left + share * width, clientY: top + 10, bubbles: true, button: 0 });
  return { film, at };
}
