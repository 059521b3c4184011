/**
 * Something that has to be settled before anything else: a real <dialog>, so that the browser keeps the focus within it
 * and Esc leaves it. Whoever had the focus gets it back. What it holds, and what closing means, is for who shows it.
 */
import { useEffect, useId, useRef, type ReactNode } from 'react';
import { InDialog } from '../app/commands.tsx';
import './dialog.css';

export interface DialogProps {
  title: ReactNode;
  /** Esc, a click beside it, or its own button. */
  onClose(): void;
  /** `wide` is for a form or a list of files. */
  size?: 'plain' | 'wide';
  /** The title is there for a screen reader alone. */
  isBare?: boolean;
  children: ReactNode;
}

export function Dialog({ title, onClose, size = 'plain', isBare = false, children }: DialogProps): ReactNode {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const before = document.activeElement;
    const shown = dialog.current!;
    shown.showModal();
    return () => {
      shown.close();
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);
  return (
    <dialog
      ref={dialog}
      className={`dialog ${size}${isBare ? ' bare' : ''}`}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault(); // it goes when whoever shows it takes it away
        onClose();
      }}
      onMouseDown={(event) => {
        if (event.target === event.currentTarget) onClose();
      }}
    >
      <div className="dialog-inner">
        <h2 id={id} className={isBare ? 'unseen' : ''}>
          {title}
        </h2>
        <InDialog value={true}>{children}</InDialog>
      </div>
    </dialog>
  );
}

/** Its buttons, in one row at the end; the one that does it comes last. @public */
export function DialogEnd({ children }: { children: ReactNode }): ReactNode {
  return <div className="dialog-end">{children}</div>;
}
