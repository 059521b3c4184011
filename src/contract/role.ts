/** What a token allows, over HTTP and whatever else comes in from outside: each role may do what those before it may. */

/** `read` looks, `run` works with runs, `admin` also decides what bosun may reach and what it keeps. */
export const ROLES = ['read', 'run', 'admin'] as const;
export type Role = (typeof ROLES)[number];

export function mayAct(has: Role, needed: Role): boolean {
  return ROLES.indexOf(has) >= ROLES.indexOf(needed);
}
