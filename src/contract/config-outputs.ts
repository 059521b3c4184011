/** What the operations on the configuration give, as schemas. */
import { z } from 'zod';
import { flag, json, opt, text } from './schema-parts.ts';

/** Who says a value of the configuration: a variable or a file. */
const Said = z.strictObject({
  value: json,
  from: z.enum(['environment', 'repository', 'user']),
  where: text,
});
/** Null where nobody says anything and there is no default. */
const ConfiguredValue = z.strictObject({
  key: text,
  value: json,
  from: z.enum(['environment', 'repository', 'user', 'default']),
  where: opt(text),
  /** What it goes before. */
  over: z.array(Said),
  about: text,
});
export type ConfiguredValue = z.output<typeof ConfiguredValue>;
export const Configuration = z.strictObject({
  values: z.array(ConfiguredValue),
  files: z.strictObject({ user: text, repository: opt(text) }),
});
export type Configuration = z.output<typeof Configuration>;
export const ConfigSet = z.strictObject({ key: text, value: json, file: text });
export type ConfigSet = z.output<typeof ConfigSet>;
export const ConfigUnset = z.strictObject({ key: text, file: text, wasSet: flag });
export type ConfigUnset = z.output<typeof ConfigUnset>;
