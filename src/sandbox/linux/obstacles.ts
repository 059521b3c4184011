/** Recognises what keeps this machine from making user namespaces, and how each is lifted. It tries nothing itself. */
import { existsSync, readFileSync } from 'node:fs';

export interface NamespaceFacts {
  isRoot: boolean;
  /** /proc/sys/kernel/apparmor_restrict_unprivileged_userns, of Ubuntu since 23.10. */
  apparmorRestricts: boolean;
  /** /proc/sys/kernel/unprivileged_userns_clone, of Debian and its kin. */
  cloneForbidden: boolean;
  /** /proc/sys/user/max_user_namespaces is 0. */
  noneAllowed: boolean;
  container: 'docker' | 'podman' | undefined;
}

export interface Obstacle {
  /** What is in the way, as the rest of a sentence. */
  what: string;
  /** What to do about it; a person can type it. */
  remedy: string;
}

export function namespaceFacts(
  read: (file: string) => string | undefined = textOf,
  exists: (file: string) => boolean = existsSync,
  uid: number | undefined = process.getuid?.(),
): NamespaceFacts {
  const says = (file: string, value: string): boolean => read(`/proc/sys/${file}`)?.trim() === value;
  return {
    isRoot: uid === 0,
    apparmorRestricts: says('kernel/apparmor_restrict_unprivileged_userns', '1'),
    cloneForbidden: says('kernel/unprivileged_userns_clone', '0'),
    noneAllowed: says('user/max_user_namespaces', '0'),
    container: exists('/run/.containerenv') ? 'podman' : exists('/.dockerenv') ? 'docker' : undefined,
  };
}

/** The likeliest first; empty where nothing is known to be in the way. Ask only where a try has failed. */
export function obstacles(facts: NamespaceFacts): Obstacle[] {
  const found: Obstacle[] = [];
  if (facts.noneAllowed)
    found.push({
      what: 'user namespaces are turned off (user.max_user_namespaces is 0)',
      remedy:
        'sudo sysctl -w user.max_user_namespaces=15000, and the same in a file of /etc/sysctl.d to keep it',
    });
  if (facts.cloneForbidden && !facts.isRoot)
    found.push({
      what: 'only root may make user namespaces (kernel.unprivileged_userns_clone is 0)',
      remedy:
        'sudo sysctl -w kernel.unprivileged_userns_clone=1, and the same in a file of /etc/sysctl.d to keep it',
    });
  if (facts.apparmorRestricts)
    found.push({
      what: 'AppArmor lets only programs with a profile make user namespaces (Ubuntu; kernel.apparmor_restrict_unprivileged_userns is 1)',
      remedy:
        'sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0, and the same in a file of /etc/sysctl.d to keep it',
    });
  if (facts.container !== undefined)
    found.push({
      what: `this is a ${facts.container === 'docker' ? 'Docker' : 'Podman'} container, which forbids namespaces and mounts by default`,
      remedy: `start it with: ${facts.container} run --security-opt seccomp=unconfined --security-opt apparmor=unconfined --security-opt ${facts.container === 'docker' ? 'systempaths=unconfined' : 'unmask=ALL'} …`,
    });
  return found;
}

function textOf(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}
