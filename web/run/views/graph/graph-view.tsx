/** The graph of a run: boxes that can be pressed, over a canvas that moves. */
import {
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
  type KeyboardEvent,
  type ReactNode,
} from 'react';
import { flushSync } from 'react-dom';
import { CommandButton, useCommands, type Command } from '../../../app/commands.tsx';
import type { RunAt } from '../../../film/run-at.ts';
import { boxLooks } from './box-look.ts';
import { GraphNode } from './graph-node.tsx';
import { modelMaker, type GraphBox, type GraphLine, type GraphModel } from './graph-model.ts';
import { GraphStage, type Rest } from './graph-stage.ts';
import { neighbourOf } from './neighbour.ts';
import './graph.css';

export interface GraphViewProps {
  at: RunAt;
  chosen: string | undefined;
  choose(task: string): void;
}

const READABLE = 0.35;

export function GraphView({ at, chosen, choose }: GraphViewProps): ReactNode {
  const [isWhole, setWhole] = useState(false);
  const [makeModel] = useState(modelMaker);
  const model = makeModel(at.tasks, isWhole);
  const look = useMemo(() => boxLooks(at), [at, model]);
  const host = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const stage = useRef<GraphStage>(undefined);
  const [rest, setRest] = useState<Rest>();
  const chosenBox = boxOf(model, at, chosen);
  const dark = useMemo(() => darkLines(model, chosenBox), [model, chosenBox]);
  const wanted = useRef<string>(undefined);

  useLayoutEffect(() => {
    const made = new GraphStage(host.current!, canvas.current!, (next) => setRest(next));
    stage.current = made;
    return () => made.end();
  }, []);
  useLayoutEffect(
    () => stage.current!.show({ model, look, chosen: chosenBox, dark }),
    [model, look, chosenBox, dark],
  );
  useEffect(() => {
    if (wanted.current === undefined) return;
    const node = host.current!.querySelector<HTMLElement>(`[data-box="${CSS.escape(wanted.current)}"]`);
    wanted.current = undefined;
    node?.focus({ preventScroll: true });
  }, [rest]);

  const zoom: Command[] = [
    { id: 'graph-fit', label: 'Fit', keys: '0', run: () => stage.current?.fit() },
    { id: 'graph-out', label: 'Smaller', keys: '-', run: () => stage.current?.zoom(1 / 1.3) },
    { id: 'graph-in', label: 'Larger', keys: '+', run: () => stage.current?.zoom(1.3) },
  ];
  useCommands(zoom);

  const onArrow = (event: KeyboardEvent): void => {
    const id = (event.target as Element).closest<HTMLElement>('[data-box]')?.dataset['box'];
    const from = id === undefined ? undefined : model.byId.get(id);
    const next = from && neighbourOf(from, event.key, model.boxes);
    if (!next) {
      if (from && event.key.startsWith('Arrow')) event.preventDefault();
      return;
    }
    event.preventDefault();
    wanted.current = next.id;
    flushSync(() => stage.current!.reveal(next));
    const node = host.current!.querySelector<HTMLElement>(`[data-box="${CSS.escape(next.id)}"]`);
    node?.focus({ preventScroll: true });
  };
  const onPress = (event: React.MouseEvent): void => {
    const task = (event.target as Element).closest<HTMLElement>('[data-task]')?.dataset['task'];
    const box = task === undefined ? stage.current!.boxAt(event) : undefined;
    if (task !== undefined) choose(task);
    else if (box) choose(box.id);
  };

  const buttons = (rest?.buttons ?? []).filter((box) => model.byId.get(box.id) === box);
  const first = chosenBox && buttons.includes(chosenBox) ? chosenBox : buttons[0];
  const camera = rest?.camera;
  return (
    <div className="graph-view">
      <div
        ref={host}
        className={camera && camera.scale < READABLE ? 'graph far' : 'graph'}
        role="group"
        aria-label="Graph of tasks; arrow keys go from box to box"
        onKeyDown={onArrow}
        onClick={onPress}
      >
        <canvas ref={canvas} aria-hidden="true" />
        {camera && (
          <div
            className="boxes"
            style={{ transform: `translate(${camera.x}px, ${camera.y}px) scale(${camera.scale})` }}
          >
            {buttons.map((box) => (
              <GraphNode
                key={box.id}
                box={box}
                look={look(box)}
                isChosen={box === chosenBox}
                isFirst={box === first}
              />
            ))}
          </div>
        )}
      </div>
      <div className="graph-foot">
        {model.note !== null && <p className="quiet">{model.note}</p>}
        {(model.note !== null || isWhole) && (
          <button className="link" onClick={() => setWhole(!isWhole)}>
            {isWhole ? 'Fold it again' : 'Draw all of them'}
          </button>
        )}
        <span className="zoom">
          {zoom.map((command) => (
            <CommandButton key={command.id} command={command} />
          ))}
        </span>
      </div>
    </div>
  );
}

/** The box of the task, or the one that it is folded into. */
function boxOf(model: GraphModel, at: RunAt, chosen: string | undefined): GraphBox | undefined {
  for (let id = chosen; id !== undefined; id = at.task(id)?.facts.parent) {
    const own = id;
    const found = model.byId.get(own) ?? model.boxes.find(({ members }) => members.includes(own));
    if (found) return found;
  }
  return undefined;
}

/** All that leads to it, and who waits for it. */
function darkLines({ lines }: GraphModel, chosen: GraphBox | undefined): ReadonlySet<GraphLine> {
  const dark = new Set<GraphLine>();
  if (!chosen) return dark;
  const into = Map.groupBy(lines, ({ to }) => to);
  const open = [chosen];
  const known = new Set(open);
  for (let box = open.pop(); box; box = open.pop()) {
    for (const line of into.get(box) ?? []) {
      dark.add(line);
      if (known.has(line.from)) continue;
      known.add(line.from);
      open.push(line.from);
    }
  }
  for (const line of lines) if (line.from === chosen) dark.add(line);
  return dark;
}
