/** Which files belong to whom, who changed them, and what somebody has to know: conflicts, requests, what was left out. */
import { useMemo, useRef, useState, type CSSProperties, type ReactNode } from 'react';
import { describeAccess, count } from '../../../../src/report/words.ts';
import type { RunAt } from '../../../film/run-at.ts';
import { plain } from '../../../parts/plain.ts';
import { useRows } from '../use-rows.ts';
import { fileTree, rowsOf, type FileNode } from './file-tree.ts';
import { ownersOf, type Owner } from './owners.ts';
import './files.css';

export interface FilesViewProps {
  at: RunAt;
  chosen: string | undefined;
  choose(task: string): void;
}

const ROW_PX = 25;
const OPEN_FIRST_MAX = 400;
const INDENT_PX = 15;
const DEPTH_MAX = 14;
const SIGNS = { added: '+', modified: '~', deleted: '−' } as const;

export function FilesView({ at, choose }: FilesViewProps): ReactNode {
  const scroller = useRef<HTMLDivElement>(null);
  const [toggled, setToggled] = useState<ReadonlySet<string>>(new Set());
  const [only, setOnly] = useState<string>();
  const report = at.report();
  const owners = useMemo(() => ownersOf(at.tasks), [at.tasks]);
  const tree = useMemo(() => fileTree(owners, report), [owners, report]);
  const isSmall = tree.changedCount <= OPEN_FIRST_MAX;
  const rows = useMemo(() => {
    const all = rowsOf(tree, (node) => isSmall !== toggled.has(node.path));
    const owner = owners.find(({ letter }) => letter === only);
    return owner ? all.filter((node) => node.children.size > 0 || owner.owns(node.path)) : all;
  }, [tree, toggled, isSmall, only, owners]);
  const { first, end } = useRows(scroller, rows.length, ROW_PX);
  const troubles = troublesOf(at);
  if (rows.length === 0 && troubles.length === 0)
    return (
      <div className="nothing">
        <b>No file had changed by then, and nobody owns any.</b>
        <p>
          An agent owns what its <code>scope.write</code> names, such as <code>src/api/**</code>. Who changes
          what is shown here as it is collected.
        </p>
      </div>
    );
  const ownerOf = (task: string): Owner | undefined => owners.find((owner) => owner.tasks.includes(task));
  const most = Math.max(1, ...[...tree.children.values()].map(({ changedCount }) => changedCount));
  const toggle = (path: string): void => {
    const next = new Set(toggled);
    if (!next.delete(path)) next.add(path);
    setToggled(next);
  };
  return (
    <>
      {owners.length > 0 && (
        <ul className="owners" aria-label="Owners">
          {owners.map((owner) => (
            <li key={owner.letter}>
              <button
                aria-pressed={only === owner.letter}
                title={plain(owner.globs.join(', '))}
                onClick={() => setOnly(only === owner.letter ? undefined : owner.letter)}
              >
                <Letter owner={owner} /> {plain(owner.name)}
                {owner.tasks.length > 1 && <small> in {count(owner.tasks.length, 'task')}</small>}
              </button>
            </li>
          ))}
        </ul>
      )}
      {troubles.length > 0 && (
        <ul className="troubles">
          {troubles.map(({ key, kind, tone, task, text }) => (
            <li key={key} className={tone}>
              <span className="badge">{kind}</span>{' '}
              <button className="task-name" onClick={() => choose(task)}>
                {at.task(task)?.facts.label ?? task}
              </button>{' '}
              {plain(text)}
            </li>
          ))}
        </ul>
      )}
      <div className="scroll files" ref={scroller} tabIndex={0} role="region" aria-label="Files of the run">
        <div className="virtual" style={{ height: rows.length * ROW_PX }}>
          {rows.slice(first, end).map((node, n) => (
            <FileRow
              key={node.path}
              node={node}
              top={(first + n) * ROW_PX}
              isOpen={isSmall !== toggled.has(node.path)}
              toggle={toggle}
              most={most}
              at={at}
              ownerOf={ownerOf}
              choose={choose}
            />
          ))}
        </div>
      </div>
      <Cut at={at} />
    </>
  );
}

interface FileRowProps {
  node: FileNode;
  top: number;
  isOpen: boolean;
  toggle(path: string): void;
  most: number;
  at: RunAt;
  ownerOf(task: string): Owner | undefined;
  choose(task: string): void;
}

function FileRow({ node, top, isOpen, toggle, most, at, ownerOf, choose }: FileRowProps): ReactNode {
  const { name, path, depth, children, claims, changes, changedCount, asked, conflicts, outside } = node;
  const isDirectory =
    children.size > 0 ||
    (changes.length === 0 && outside.length === 0 && conflicts.length === 0 && asked.length === 0);
  const labelOf = (task: string): string => at.task(task)?.facts.label ?? task;
  const letters = [...new Map(claims.map(({ owner }) => [owner.letter, owner])).values()];
  const indent = { paddingLeft: 4 + Math.min(depth, DEPTH_MAX) * INDENT_PX - INDENT_PX } as CSSProperties;
  const shown = path === '' ? 'everything' : plain(isDirectory ? `${name}/` : name);
  return (
    <div className="file-row" style={{ top }}>
      <span className="path" style={indent} title={plain(path)}>
        {children.size > 0 && path !== '' ? (
          <button aria-expanded={isOpen} onClick={() => toggle(path)}>
            <span aria-hidden="true">{isOpen ? '▾' : '▸'}</span> {shown}
          </button>
        ) : (
          <span className={isDirectory ? 'leaf' : 'leaf file'}>{shown}</span>
        )}
      </span>
      <span className="letters">
        {letters.map((owner) => (
          <Letter key={owner.letter} owner={owner} />
        ))}
        {letters.length > 1 && <small className="quiet">both</small>}
      </span>
      <span className="what">
        {isDirectory && changedCount > 0 && (
          <>
            <span className="part" style={{ '--part': Math.min(1, changedCount / most) } as CSSProperties} />
            <small className="quiet">{changedCount} changed</small>
          </>
        )}
        {changes.map(({ task, change }) => {
          const owner = ownerOf(task);
          return (
            <button
              key={task}
              className={`change ${change}`}
              onClick={() => choose(task)}
              title={`${change} by ${labelOf(task)}`}
            >
              <span aria-hidden="true">{SIGNS[change]}</span>
              <span className="unseen">{change} by </span>
              {owner && <Letter owner={owner} />} {labelOf(task)}
            </button>
          );
        })}
        {asked.map(({ task, answer }, n) => (
          <span
            key={`${task} ${n}`}
            className={answer === null ? 'mark ask' : answer === 'no' ? 'mark still' : 'mark good'}
          >
            ← {labelOf(task)}
            {answer === null ? ' asks' : answer === 'no' ? ' was refused' : ' was granted'}
          </span>
        ))}
        {conflicts.length > 0 && <span className="mark bad">✗ conflict</span>}
        {outside.map(({ task, why }) => (
          <span key={task} className="mark bad" title={plain(why)}>
            ✗ left out of {labelOf(task)}
          </span>
        ))}
      </span>
    </div>
  );
}

function Letter({ owner }: { owner: Owner }): ReactNode {
  return (
    <span className={`letter hue-${owner.hue}`} title={plain(owner.name)}>
      {owner.letter}
    </span>
  );
}

interface Trouble {
  key: string;
  kind: string;
  tone: string;
  task: string;
  text: string;
}

const OUTSIDE_SHOWN_MAX = 3;

/** What somebody has to know of, a sentence each. */
function troublesOf(at: RunAt): Trouble[] {
  const report = at.report();
  const labelOf = (id: string): string => at.task(id)?.facts.label ?? id;
  const conflicts = report.conflicts.map(({ task, files, with: others, resolved, attempt }): Trouble => {
    const who = others.length > 0 ? ` with ${others.map(labelOf).join(', ')}` : '';
    const end = resolved === null ? 'not settled' : `settled by ${resolved}`;
    return {
      key: `c${task}${attempt}${files[0]}`,
      kind: 'conflict',
      tone: resolved === null ? 'bad' : 'ask',
      task,
      text: `${who.trim()} in ${shortList(files)}: ${end}`,
    };
  });
  const requests = report.tasks.flatMap(({ id, access }) =>
    access.map((request): Trouble => {
      const why = request.why === null || request.answer === 'no' ? '' : `: ${request.why}`;
      return {
        key: `a${id}${request.id}`,
        kind: 'access',
        tone: request.answer === null ? 'ask' : request.answer === 'no' ? 'still' : 'good',
        task: id,
        text: `${describeAccess(request)}${why}`,
      };
    }),
  );
  const left = report.tasks.flatMap(({ id, attempts }) =>
    attempts
      .filter(({ outsideCount, refused }) => outsideCount > 0 || refused.length > 0)
      .slice(-1)
      .map(({ outside, outsideCount, refused, n }): Trouble => ({
        key: `l${id}${n}`,
        kind: 'left out',
        tone: 'bad',
        task: id,
        text: `changed ${count(outsideCount + refused.length, 'file')} that its scope does not allow: ${shortList([...outside, ...refused], outsideCount + refused.length)}`,
      })),
  );
  return [...conflicts, ...left, ...requests];
}

function shortList(files: readonly string[], total = files.length): string {
  const shown = files.slice(0, OUTSIDE_SHOWN_MAX).join(', ');
  return total > OUTSIDE_SHOWN_MAX ? `${shown} and ${total - OUTSIDE_SHOWN_MAX} more` : shown;
}

/** Lists of changed files are bounded: what is beyond is said. */
function Cut({ at }: { at: RunAt }): ReactNode {
  const cut = at
    .report()
    .tasks.flatMap(({ attempts }) => attempts.slice(-1))
    .reduce((sum, { changed, changedCount }) => sum + changedCount - changed.length, 0);
  if (cut <= 0) return null;
  return (
    <p className="quiet">
      {count(cut, 'more changed file')} not listed here; <code>bosun diff {at.run.id}</code> has all.
    </p>
  );
}
