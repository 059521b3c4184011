/** Whether a path is a directory or lies below it. Both are absolute; links are not looked at. */
import { sep } from 'node:path';

export function isWithin(directory: string, path: string): boolean {
  return path === directory || path.startsWith(directory === sep ? sep : directory + sep);
}
