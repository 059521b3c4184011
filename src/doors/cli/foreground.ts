/** Whether this process has the terminal for itself. One in the background is stopped when it reaches for the keys. */
import { readFileSync } from 'node:fs';

export function isForeground(): boolean {
  try {
    // pid (name) state ppid pgrp session tty tpgid …; a name may hold blanks and brackets
    const stat = readFileSync('/proc/self/stat', 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const [group, foregroundGroup] = [fields[2], fields[5]];
    return foregroundGroup === '-1' || foregroundGroup === group;
  } catch {
    return true; // not Linux
  }
}
