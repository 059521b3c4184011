/** What is written to a terminal for one picture after another, and which keys are read from it. */
import { PassThrough } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Keys, type Keyboard } from '../src/doors/cli/live/keys.ts';
import { cutPainted, Screen } from '../src/doors/cli/live/screen.ts';

const ESC = '\u001b';

class FakeTerminal {
  columns = 20;
  rows = 6;
  written = '';
  write(text: string): boolean {
    this.written += text;
    return true;
  }
  take(): string {
    const { written } = this;
    this.written = '';
    return written;
  }
}

describe('the screen', () => {
  let terminal: FakeTerminal;
  let screen: Screen;
  beforeEach(() => {
    terminal = new FakeTerminal();
    screen = new Screen(terminal);
    terminal.take();
  });
  afterEach(() => screen.close(true));

  it('writes only the lines that changed, and nothing where none did', () => {
    screen.draw(['one', 'two', 'three']);
    expect(terminal.take()).toBe('one\ntwo\nthree\n');
    screen.draw(['one', 'two', 'three']);
    expect(terminal.take()).toBe('');
    screen.draw(['one', 'TWO', 'three']);
    expect(terminal.take()).toBe(`${ESC}[2ATWO${ESC}[K\n\n`);
    screen.draw(['one', 'TWO', 'three', 'four']);
    expect(terminal.take()).toBe(`four${ESC}[K\n`);
    screen.draw(['one']);
    expect(terminal.take()).toBe(`${ESC}[3A${ESC}[J`);
    screen.clear();
    expect(terminal.take()).toBe(`${ESC}[1A${ESC}[J`);
  });

  it('takes away what a terminal that became narrower has broken into more lines', () => {
    screen.draw(['x'.repeat(20), 'y']);
    terminal.take();
    terminal.columns = 10;
    screen.draw(['x'.repeat(20), 'y']);
    expect(terminal.take()).toBe(`${ESC}[3A${ESC}[J${'x'.repeat(9)}…${ESC}[0m\ny\n`);
  });

  it('is never as high as the terminal, and lets nothing through that would drive it', () => {
    screen.draw(Array.from({ length: 9 }, (_, n) => `${n}${ESC}[2J`));
    const written = terminal.take();
    expect(written.split('\n')).toHaveLength(6);
    expect(written).not.toContain(`${ESC}[2J`);
  });

  it('cuts a painted line in its colours', () => {
    const line = `${ESC}[32mgreen${ESC}[0m plain ${ESC}[2mquiet${ESC}[0m`;
    expect(cutPainted(line, 17)).toBe(line);
    expect(cutPainted(line, 15)).toBe(`${ESC}[32mgreen${ESC}[0m plain ${ESC}[2mqu…${ESC}[0m`);
    expect(cutPainted(line, 5)).toBe(`${ESC}[32mgree…${ESC}[0m`);
    expect(cutPainted(`${ESC}[32m日本語${ESC}[0m`, 5)).toBe(`${ESC}[32m日本…${ESC}[0m`);
  });
});

describe('keys', () => {
  function listen(): { keyboard: PassThrough; pressed: string[]; modes: boolean[] } {
    const [pressed, modes]: [string[], boolean[]] = [[], []];
    const keyboard = Object.assign(new PassThrough(), {
      setRawMode: (mode: boolean) => modes.push(mode),
      ref() {},
      unref() {},
    });
    const keys = new Keys(keyboard as unknown as Keyboard, (key) => pressed.push(key));
    keyboard.once('close', () => keys.close(false));
    return { keyboard, pressed, modes };
  }

  it('are called by their names, also where several come at once', async () => {
    const { keyboard, pressed } = listen();
    keyboard.write(`y${ESC}[A${ESC}OB\r${ESC}[5~${ESC}[6~\u0003\u001a`);
    await sleep(10);
    expect(pressed).toEqual(['y', 'up', 'down', 'enter', 'page-up', 'page-down', 'ctrl-c', 'ctrl-z']);
  });

  it('are whole where they come in pieces, and Escape is one by itself', async () => {
    const { keyboard, pressed } = listen();
    keyboard.write(ESC);
    keyboard.write('[');
    keyboard.write('B');
    await sleep(10);
    expect(pressed).toEqual(['down']);
    keyboard.write(ESC);
    await sleep(120);
    expect(pressed).toEqual(['down', 'escape']);
  });

  it('are not what is pasted, nor what is unknown', async () => {
    const { keyboard, pressed } = listen();
    keyboard.write('yes please');
    keyboard.write(`${ESC}[1;5C`);
    await sleep(10);
    expect(pressed).toEqual([]);
  });

  it('leave the terminal as it was', async () => {
    const { keyboard, modes } = listen();
    keyboard.destroy(new Error('EIO: the terminal is gone'));
    await sleep(10);
    expect(modes).toEqual([true, false]);
    expect(keyboard.listenerCount('data')).toBe(0);
  });
});
