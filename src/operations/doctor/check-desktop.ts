/** Whether notifications can reach the desktop, where the user's configuration wants that. It sends none. */
import { loadConfigs, userConfigFile } from '../../definition/config.ts';
import { DESKTOP_PROGRAM } from '../../hooks/notification.ts';
import { findProgram } from '../../system/process/process.ts';
import type { Finding } from './finding.ts';

export function checkDesktop(): Finding[] {
  let isWanted: boolean;
  try {
    isWanted = loadConfigs([userConfigFile()]).some(({ config }) =>
      config.notify?.some((each) => each.desktop),
    );
  } catch {
    return []; // what is wrong with the configuration is said where it is read first
  }
  if (!isWanted) return [];
  const name = 'desktop';
  const program = findProgram(DESKTOP_PROGRAM);
  if (program !== undefined) return [{ name, level: 'ok', found: `notifications by ${program}` }];
  return [
    {
      name,
      level: 'warn',
      found: `notifications are wanted, but there is no ${DESKTOP_PROGRAM}`,
      advice: 'install libnotify (on Debian: apt install libnotify-bin), or remove "desktop: true"',
    },
  ];
}
