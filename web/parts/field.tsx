/** A field of a form: its name, what it is for, what is wrong with it, and whatever is typed or chosen in between. */
import { useId, type ReactNode } from 'react';
import './field.css';

export interface FieldProps {
  label: ReactNode;
  /** Said under it, where nothing is wrong. */
  about?: ReactNode;
  problem?: string | undefined;
  isRequired?: boolean;
  /** The element has to take all of these. */
  children(given: {
    id: string;
    'aria-invalid': boolean;
    'aria-required': boolean;
    'aria-describedby': string | undefined;
  }): ReactNode;
}

export function Field({ label, about, problem, isRequired = false, children }: FieldProps): ReactNode {
  const id = useId();
  const isTold = problem !== undefined || about !== undefined;
  return (
    <div className={problem === undefined ? 'form-field' : 'form-field wrong'}>
      <label htmlFor={id}>
        {label}
        {isRequired && (
          <span className="must" title="required">
            {' '}
            *
          </span>
        )}
      </label>
      <div className="form-value">
        {children({
          id,
          'aria-invalid': problem !== undefined,
          'aria-required': isRequired,
          'aria-describedby': isTold ? `${id}-about` : undefined,
        })}
        {isTold && (
          <p id={`${id}-about`} className={problem === undefined ? 'quiet' : 'problem'}>
            {problem ?? about}
          </p>
        )}
      </div>
    </div>
  );
}
