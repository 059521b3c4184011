/** One row of a log. All of it is text. */
import { memo, type ReactNode } from 'react';
import { spellControls } from '../../../src/report/text/plain.ts';
import { changeQuery } from '../../app/router.ts';
import { clock } from '../../run/views/task-look.ts';
import type { ToolItem } from './log-items.ts';
import { runsIn, type Row } from './log-rows.ts';

export interface LogRowProps {
  row: Row;
  topPx: number;
  columns: number;
  startedAtMs: number;
  /** What comes later is not known yet. */
  untilMs: number;
  isOpen: boolean;
  toggle(tool: ToolItem): void;
}

export const LogRow = memo(function LogRow(props: LogRowProps): ReactNode {
  const { row, topPx, columns, untilMs } = props;
  const { kind, item, part, text } = row;
  const style = { top: topPx };
  switch (kind) {
    case 'gap':
      return null;
    case 'top':
    case 'end':
      return <div className={`ev out-${kind}`} style={style} />;
    case 'line':
    case 'detail': {
      const isError = item.kind === 'line' && item.stream === 'stderr';
      return (
        <div className={isError ? 'ev out err' : 'ev out'} style={style}>
          {runsIn(row, columns).map((run, n) =>
            run.classes === '' ? (
              run.text
            ) : (
              <span key={n} className={run.classes}>
                {run.text}
              </span>
            ),
          )}
        </div>
      );
    }
    case 'tool':
      return <ToolRow {...props} item={item as ToolItem} text={text} style={style} />;
    case 'you':
      return (
        <div className="ev you" style={style}>
          {part === 0 && <When {...props} />}
          <p>{text}</p>
          {part === 0 && item.kind === 'you' && (
            <span className="took">
              {item.readAtMs !== undefined && item.readAtMs <= untilMs
                ? 'read'
                : `${spellControls(item.by)}, not read yet`}
            </span>
          )}
        </div>
      );
    case 'mark':
    case 'note':
      return (
        <div
          className={`ev ${kind === 'mark' ? 'step' : kind} ${item.kind === 'mark' || item.kind === 'note' ? item.tone : ''}`}
          style={style}
        >
          {part === 0 && <When {...props} />}
          <p>{text}</p>
        </div>
      );
    default:
      return (
        <div className={`ev ${kind}`} style={style}>
          {part === 0 && <When {...props} />}
          <p>{text}</p>
        </div>
      );
  }
});

function ToolRow({
  item,
  text,
  style,
  isOpen,
  toggle,
  untilMs,
  ...props
}: LogRowProps & { item: ToolItem; text: string; style: { top: number } }): ReactNode {
  const result = item.result !== undefined && item.result.atMs <= untilMs ? item.result : undefined;
  const tookMs = result ? result.atMs - item.atMs : undefined;
  const took = !result
    ? 'running'
    : tookMs! < 100
      ? ''
      : tookMs! < 60_000
        ? `${(tookMs! / 1000).toFixed(1)} s`
        : clock(tookMs!);
  return (
    <div className="ev tool" style={style}>
      <When {...props} />
      <button className="call" aria-expanded={isOpen} onClick={() => toggle(item)}>
        <span className="tri" aria-hidden="true">
          {isOpen ? '▾' : '▸'}
        </span>
        <b>{spellControls(item.name)}</b> <code>{text}</code>
      </button>
      <span className={result?.isError ? 'took minus' : 'took'}>
        {took} {result?.isError && '✗'}
      </span>
    </div>
  );
}

function When({ row, startedAtMs }: Pick<LogRowProps, 'row' | 'startedAtMs'>): ReactNode {
  const { atMs } = row.item;
  return (
    <button
      className="when"
      tabIndex={-1}
      title={`Show this moment: ${new Date(atMs).toISOString()}`}
      onClick={() => changeQuery({ t: String(atMs) })}
    >
      {clock(Math.max(0, atMs - startedAtMs))}
    </button>
  );
}
