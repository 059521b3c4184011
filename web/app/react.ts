/**
 * What the page uses of React, made of Preact; vite.config.ts puts it in React's place, whose types the page is checked
 * against. Preact's own compat/ does all that React does, in twice the size of what is used here. A name that is missing
 * here fails the build.
 */
import {
  Component,
  createElement,
  options,
  render,
  type ComponentChildren,
  type FunctionComponent,
} from 'preact';
import { useEffect, useLayoutEffect, useReducer, useRef } from 'preact/hooks';

export { Component, createContext, createElement, Fragment, Fragment as StrictMode } from 'preact';
export {
  useCallback,
  useContext,
  useEffect,
  useId,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from 'preact/hooks';

type Props = Record<string, unknown>;

/** React writes the attributes of SVG in camel case. Those that SVG writes so too are none that the page has. */
const SVG_ATTRIBUTE = /^(clip|fill|font|stroke|text)[A-Z]/;
/** Inputs whose value changes as a whole. */
const CHOSEN = new Set<unknown>(['checkbox', 'radio', 'file']);
/** Numbers of these are not pixels. */
const UNITLESS = /^(-|flex|fontW|grid|line|opacity|order|z)/;

export function createRoot(host: Element): { render(of: ComponentChildren): void } {
  return { render: (of) => render(of, host) };
}

/** Draws what `act` changes before it returns. */
export function flushSync(act: () => void): void {
  const before = options.debounceRendering;
  const pending: (() => void)[] = [];
  options.debounceRendering = (draw) => pending.push(draw);
  try {
    act();
    for (const draw of pending) draw();
  } finally {
    if (before) options.debounceRendering = before;
    else delete options.debounceRendering;
  }
}

/** Drawn anew only where a prop is another one than before, or its own state changes. */
export function memo<P extends object>(of: FunctionComponent<P>): typeof Component<P> {
  return class extends Component<P> {
    override shouldComponentUpdate(next: Props): boolean {
      const props = this.props as Props;
      const names = Object.keys(next);
      return (
        names.length !== Object.keys(props).length ||
        names.some((name) => !Object.is(next[name], props[name]))
      );
    }
    override render(props: P): ComponentChildren {
      return createElement(of, props);
    }
  };
}

export function useSyncExternalStore<T>(subscribe: (changed: () => void) => () => void, read: () => T): T {
  const value = read();
  const shown = useRef({ value, read });
  const [, again] = useReducer<number, void>((count) => count + 1, 0);
  const look = (): void => {
    if (!Object.is(shown.current.value, shown.current.read())) again();
  };
  useLayoutEffect(() => {
    shown.current = { value, read };
    look(); // it may have changed since
  }, [value, read]);
  useEffect(() => {
    look();
    return subscribe(look);
  }, [subscribe]);
  return value;
}

options.event = (event) => Object.assign(event, { nativeEvent: event });

const before = options.vnode;
options.vnode = (node) => {
  if (typeof node.type === 'string') asPreactHasThem(node.type, node.props);
  before?.(node);
};

/** What `createElement` was given is no longer anybody else's: only a style may be. */
function asPreactHasThem(type: string, props: Props): void {
  for (const name of Object.keys(props)) {
    if (name === 'style') props.style = inPixels(props.style);
    const own = ownName(type, name, props);
    if (own === name) continue;
    props[own] = props[name];
    delete props[name];
  }
}

function ownName(type: string, name: string, { type: kind }: Props): string {
  // A text changes with each key, not first when its field is left.
  if (name === 'onChange' && (type === 'textarea' || (type === 'input' && !CHOSEN.has(kind))))
    return 'onInput';
  return SVG_ATTRIBUTE.test(name) ? name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`) : name;
}

function inPixels(style: unknown): unknown {
  if (typeof style !== 'object' || style === null) return style;
  const all = Object.entries(style).map(([name, value]) => [
    name,
    typeof value === 'number' && !UNITLESS.test(name) ? `${value}px` : value,
  ]);
  return Object.fromEntries(all);
}
