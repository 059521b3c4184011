/** A box of the graph as a button: what the canvas paints of it, for hands, keys and screen readers. */
import type { ReactNode } from 'react';
import type { BoxLook } from './box-look.ts';
import type { GraphBox } from './graph-model.ts';

export interface GraphNodeProps {
  box: GraphBox;
  look: BoxLook;
  isChosen: boolean;
  /** Where the tab key goes. */
  isFirst: boolean;
}

export function GraphNode({ box, look, isChosen, isFirst }: GraphNodeProps): ReactNode {
  const { id, kind, x, y, width } = box;
  const { tone, sign, state, label, nth, detail, does, pips, bar, height } = look;
  const classes = ['node', tone, kind, isChosen && 'on'].filter(Boolean).join(' ');
  return (
    <button
      className={classes}
      data-box={id}
      data-task={id}
      tabIndex={isFirst ? 0 : -1}
      aria-pressed={isChosen}
      title={does === '' ? label : `${label}: ${does}`}
      style={{ left: x, top: y, width, height: kind === 'frame' ? 42 : height }}
    >
      <span className="sign" aria-hidden="true">
        {sign}
      </span>
      <b>
        {label}
        {nth !== '' && <i>{nth}</i>}
      </b>
      <span className="unseen">{state}</span>
      <small>{detail}</small>
      {pips.length > 0 && (
        <span className="pips" aria-hidden="true">
          {pips.map((pip) => (
            <span
              key={pip.task}
              className={`sign ${pip.tone}`}
              data-task={pip.task}
              title={`${pip.label}: ${pip.state}`}
            >
              {pip.sign}
            </span>
          ))}
        </span>
      )}
      {bar.length > 0 && (
        <span className="shares" aria-hidden="true">
          {bar
            .filter(({ count }) => count > 0)
            .map((part) => (
              <span key={part.tone} className={part.tone} style={{ flexGrow: part.count }} />
            ))}
        </span>
      )}
      {does !== '' && height > 50 && kind === 'task' && <span className="does">{does}</span>}
    </button>
  );
}
