/** Puts each limit to what holds it best on this machine, and says which that is. */
import type { HeldLimits } from '../../contract/isolation.ts';
import type { FenceLimits } from '../../system/process/fence.ts';
import { tryCgroups, type Cgroup, type CgroupLimits, type CgroupPlaces } from './cgroup.ts';
import { ProcessTable } from './process-table.ts';
import { Watchdog, type WatchdogOptions, type WatchRequest } from './watchdog.ts';

export interface LimitsDescription {
  held: HeldLimits;
  /** What is weaker than it could be, and why; for people. */
  notes: string[];
}

export async function chooseLimits(options: WatchdogOptions & CgroupPlaces = {}): Promise<SandboxLimits> {
  const notes: string[] = [];
  const cgroups = await tryCgroups(notes, options);
  return new SandboxLimits(cgroups, describeLimits(cgroups, notes), new Watchdog(options));
}

function describeLimits(cgroups: CgroupLimits | undefined, why: string[]): LimitsDescription {
  const held = { disk: 'watchdog', 'open files': 'prlimit' } as const;
  if (cgroups !== undefined)
    return { held: { ...held, memory: 'cgroup', processes: 'cgroup', cpu: 'cgroup' }, notes: [] };
  return {
    held: { ...held, memory: 'watchdog', processes: 'prlimit', cpu: 'watchdog' },
    notes: [
      ...why,
      'memory and cpu are watched every 50 ms: a burst can pass their limits for a moment before it is ended or stopped',
    ],
  };
}

/** One for the whole engine; disposed of with it. */
export class SandboxLimits {
  readonly #cgroups: CgroupLimits | undefined;
  readonly #description: LimitsDescription;
  readonly #watchdog: Watchdog;
  #count = 0;

  constructor(cgroups: CgroupLimits | undefined, description: LimitsDescription, watchdog: Watchdog) {
    this.#cgroups = cgroups;
    this.#description = description;
    this.#watchdog = watchdog;
  }

  describe(): LimitsDescription {
    return this.#description;
  }

  /** Holds a sandbox to its limits, from as soon as its first process is there until the returned is called. */
  hold(request: WatchRequest): () => void {
    if (this.#cgroups === undefined) return this.#watchdog.watch(request);
    this.#count += 1;
    const cgroup = this.#cgroups.make(`bosun-${process.pid}-${this.#count}`, request.limits);
    addTree(cgroup, request.initPid);
    let told = false;
    const onBreach: WatchRequest['onBreach'] = (breach) => {
      if (told) return;
      told = true;
      cgroup.kill();
      request.onBreach(breach);
    };
    const leave = this.#watchdog.watch({
      ...request,
      limits: onlyDisk(request.limits),
      probe: () => cgroup.breach(),
      onBreach,
    });
    return () => {
      leave();
      // The kernel may have ended it between two looks of the watchdog.
      const breach = cgroup.breach();
      if (breach !== undefined) onBreach(breach);
      void cgroup.remove();
    };
  }

  [Symbol.dispose](): void {
    this.#watchdog[Symbol.dispose]();
  }
}

function onlyDisk({ diskBytes }: FenceLimits): FenceLimits {
  return diskBytes === undefined ? {} : { diskBytes };
}

/** What the first process started before it was moved is moved after it. */
function addTree(cgroup: Cgroup, initPid: number): void {
  cgroup.add(initPid);
  const tree = new ProcessTable().trees(new Set([initPid]), performance.now()).get(initPid) ?? [];
  for (const { pid } of tree) if (pid !== initPid) cgroup.add(pid);
}
