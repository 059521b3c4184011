/** One input of a workflow as a field: a choice, a tick, a number or text, as the workflow declares it. */
import type { ReactNode } from 'react';
import type { Input } from '../../src/contract/workflow.ts';
import { Field } from '../parts/field.tsx';
import { plain } from '../parts/plain.ts';

export interface InputFieldProps {
  name: string;
  input: Input;
  value: string | boolean;
  problem: string | undefined;
  change(value: string | boolean): void;
}

const TEXT_CHARS_MAX = 60_000;
const LINE_CHARS_MAX = 80;

export function InputField({ name, input, value, problem, change }: InputFieldProps): ReactNode {
  const { type, description, options, required = false } = input;
  const isRequired = required && input.default === undefined;
  if (type === 'boolean')
    return (
      <Field label={plain(name)} problem={problem}>
        {(given) => (
          <span className="form-tick">
            <input
              {...given}
              type="checkbox"
              checked={value === true}
              onChange={({ target }) => change(target.checked)}
            />
            {description !== undefined && <span className="quiet">{description}</span>}
          </span>
        )}
      </Field>
    );
  const text = String(value);
  const field = { value: text, maxLength: TEXT_CHARS_MAX };
  const isLong =
    input.default !== undefined && /\n|.{81}/.test(String(input.default).slice(0, LINE_CHARS_MAX * 2));
  return (
    <Field
      label={plain(name)}
      about={description && plain(description, 2000)}
      problem={problem}
      isRequired={isRequired}
    >
      {(given) =>
        options ? (
          <select {...given} className="field" value={text} onChange={({ target }) => change(target.value)}>
            {(!isRequired || text === '') && <option value="">{isRequired ? 'choose…' : '(nothing)'}</option>}
            {options.map((option) => (
              <option key={String(option)}>{String(option)}</option>
            ))}
          </select>
        ) : isLong ? (
          <textarea {...given} {...field} className="field" onChange={({ target }) => change(target.value)} />
        ) : (
          <input
            {...given}
            {...field}
            className={type === 'number' ? 'field short' : 'field'}
            inputMode={type === 'number' ? 'decimal' : 'text'}
            autoComplete="off"
            onChange={({ target }) => change(target.value)}
          />
        )
      }
    </Field>
  );
}
