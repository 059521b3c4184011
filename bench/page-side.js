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

  /** With `fold`, which is that of the page. */
  folded(text) {
    const startedMs = performance.now();
    const run = new fold.RunFold();
    for (const line of text.split('\n')) if (line !== '') run.add(JSON.parse(line));
    run.tasks();
    return performance.now() - startedMs;
  },
};

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
