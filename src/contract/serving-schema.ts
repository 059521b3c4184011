/** Schemas of what operations give that are about serving: repositories, tokens. */
import { z } from 'zod';
import { ROLES } from './role.ts';
import { count, opt, text } from './schema-parts.ts';

export const ServedRepository = z.strictObject({
  /** As addresses have it. */
  name: text,
  directory: text,
  addedAtMs: count,
});
export type ServedRepository = z.output<typeof ServedRepository>;
export const ServedRepositories = z.array(ServedRepository);

/** Without the token itself, which nobody knows but who was given it. */
export const Token = z.strictObject({
  name: text,
  role: z.enum(ROLES),
  createdAtMs: count,
  expiresAtMs: opt(count),
});
export type TokenView = z.output<typeof Token>;
export const Tokens = z.array(Token);
/** `token` is shown this once. */
export const NewToken = Token.extend({ token: text });
