/** What held an engine's commands while it drove a run. */

export type SandboxKind = 'fences' | 'macos' | 'namespaces' | 'none';

/** Whether commands are kept from what their scopes do not name. */
export function isFenced({ kind }: { kind: SandboxKind }): boolean {
  return kind === 'fences' || kind === 'macos';
}

/** Each limit, and what keeps commands to it. */
export interface HeldLimits {
  memory: 'cgroup' | 'watchdog';
  processes: 'cgroup' | 'prlimit';
  cpu: 'cgroup' | 'watchdog';
  disk: 'watchdog';
  'open files': 'prlimit';
}

export interface Isolation {
  kind: SandboxKind;
  /** Who commands run as, where that is not the engine's own user. */
  uid?: number;
  /** Absent where none is held. */
  limits?: HeldLimits;
  /** Why there are no fences. */
  lacks?: string;
  /** What is weaker than it could be, or than the workflow asks; a sentence each. */
  notes: string[];
}
