/** Everything that is needed to drive runs: the repository, the journal, the machine's parts. */
import { statSync } from 'node:fs';
import path from 'node:path';
import { BosunError } from '../contract/errors.ts';
import type { Recorded } from '../contract/event.ts';
import { isFenced } from '../contract/isolation.ts';
import type { Workflow } from '../contract/workflow.ts';
import { Drive } from './drive.ts';
import { hasWebhooks } from './hook-desk.ts';
import type { Stages } from '../attempt/attempt.ts';
import type { Claim } from '../store/claims.ts';
import type { Home } from '../store/home.ts';
import { chooseSandbox, type Sandbox } from '../sandbox/choose.ts';
import { openSqliteStore } from '../store/sqlite.ts';
import type { Store } from '../store/store.ts';
import { openEngineGit } from '../system/git/engine-git.ts';
import { assertOurs } from '../system/files/owned.ts';
import { inspectRepository, type Repository } from '../system/git/repository.ts';
import { openWorkspaces } from '../workspace/open.ts';
import { EnginesAtWork } from './engines-at-work.ts';
import { Models, type ModelOptions } from './models.ts';
import type { ProgramHook } from './program-hooks.ts';
import { recoverMerge } from './recover-merge.ts';
import { settleWorkspaces, unsettled } from './settle-workspaces.ts';
import { tellEarlier } from './earlier-state.ts';
import { clearAttempts, createHome } from './prepare-home.ts';

const OTHERS_MAY_READ = 0o005;

export interface Engine extends AsyncDisposable {
  repository: Repository;
  home: Home;
  store: Store;
  stages: Stages;
  sandbox: Sandbox;
  /** What a person should know. */
  notes: string[];
  /** Throws where the way to models cannot be made as the workflow needs it. */
  /** Gives what a person should know. */
  checkModels(workflow: Workflow): Promise<string[]>;
  /** Does what would harm other engines while none is at work; gives whether it did. */
  whileAlone(action: () => Promise<void>): Promise<boolean>;
  /** Opens a run to be driven by this engine alone, which has the claim to a new one; throws where another drives it. */
  drive(
    run: string,
    options?: {
      claim?: Claim;
      /** Hooks that a program has added by now. */
      hooks?(): readonly ProgramHook[];
      seen?(events: Recorded[]): void;
      fault?(point: string): void;
    },
  ): Promise<Drive>;
  /** Tells webhooks what an engine that was killed could not tell of runs that have ended. */
  tellEnded(signal: AbortSignal): Promise<void>;
}

export interface EngineOptions extends ModelOptions {
  unfenced?: boolean;
  /** For what frees more than it writes: where the disk is full, it gets the space that was set aside. */
  freesSpace?: boolean;
  /** Is told of the repository where an engine is opened for it, while the rest is made ready. */
  onInspected?(repository: Repository): void;
}

/** Any number of engines may be at work in a repository; each run is driven by one of them. */
export async function openEngine(
  cwd: string,
  { unfenced = false, freesSpace = false, onInspected, ...modelOptions }: EngineOptions = {},
): Promise<Engine> {
  const repository = await inspectRepository(cwd);
  onInspected?.(repository);
  const home = await createHome(repository, freesSpace);
  assertOurs(home.journal, home.lock);
  const earlier = tellEarlier(home);
  await using undo = new AsyncDisposableStack();
  const engines = undo.use(
    await EnginesAtWork.join(home, async () => {
      await settleWorkspaces(home);
      await clearAttempts(home);
    }),
  );
  // It takes longest, and does not need the rest.
  const trying = chooseSandbox(home.sandbox, unfenced);
  undo.defer(() =>
    trying.then(
      () => {},
      () => {},
    ),
  ); // something else may be wrong first
  const store = undo.use(openSqliteStore(home.journal));
  const recovered = await recoverMerge(home, store);
  const git = undo.use(await openEngineGit(repository));
  const sandbox = await trying;
  if (sandbox.launcher.uid !== undefined) checkReadable(repository, sandbox.launcher.uid);
  const workspaces = undo.use(openWorkspaces(git, sandbox, (action) => engines.whileAlone(action)));
  const models = undo.use(new Models(home, modelOptions));
  const stages: Stages = {
    home,
    git,
    launcher: sandbox.launcher,
    isFenced: isFenced(sandbox),
    workspaces,
    models,
  };
  /** What runs hold that are driven. */
  const driving = new Set<Disposable>();
  undo.defer(() => driving.forEach((held) => held[Symbol.dispose]()));
  const all = undo.move();
  return {
    repository,
    home,
    store,
    stages,
    sandbox,
    notes: [...[recovered, earlier].filter((note) => note !== undefined), ...unsettled(home)],
    checkModels: (workflow) => models.check(workflow),
    whileAlone: (action) => engines.whileAlone(action),
    async drive(run, { claim: own, hooks: program = () => [], ...options } = {}) {
      const claim = own ?? (await store.claim(run));
      if (!claim) throw await driven(store, run);
      using undo = new DisposableStack();
      undo.use(claim);
      const { machine } = models;
      const onClosed = (): void => {
        driving.delete(held);
        held.dispose();
      };
      const hooks = { ...models.hookSources(), program };
      const drive = await Drive.open(run, {
        store,
        stages,
        machine,
        hooks,
        nowMs: Date.now,
        onClosed,
        ...options,
      });
      undo.use(machine.onTrouble(run, (text) => drive.tell(text)));
      undo.use(models.onWait(run, (wait) => drive.waits(wait)));
      const held = undo.move();
      driving.add(held);
      return drive;
    },
    async tellEnded(signal) {
      const sources = models.hookSources();
      if (!hasWebhooks(sources) || sources.isReplayed) return;
      const { tellEnded } = await import('./tell-ended.ts');
      await tellEnded({ store, top: home.top, sources: { ...sources, program: () => [] } }, signal);
    },
    async [Symbol.asyncDispose]() {
      await all.disposeAsync();
    },
  };
}

/** Agents of a root engine run as somebody else, whose git must be able to read what the user's has. */
function checkReadable({ commonDir }: Repository, uid: number): void {
  const objects = path.join(commonDir, 'objects');
  if ((statSync(objects).mode & OTHERS_MAY_READ) === OTHERS_MAY_READ) return;
  throw new BosunError(
    'system',
    `agents run as user ${uid}, who cannot read ${objects}; let others read it: chmod -R o+rX ${objects}, or run bosun as an ordinary user`,
  );
}

async function driven(store: Store, run: string): Promise<BosunError> {
  const { pid } = (await store.driver(run)) ?? { pid: 0 };
  const who = pid === 0 ? 'another bosun' : `another bosun (process ${pid})`;
  return new BosunError(
    'busy',
    `${who} is at work on run ${run}; watch it with: bosun attach ${run}, end it with: bosun cancel ${run}`,
  );
}
