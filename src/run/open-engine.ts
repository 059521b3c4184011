/** Everything that is needed to drive a run: the repository, the lock, the journal, the machine's parts. */
import { rmSync, statSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { BosunError } from '../contract/errors.ts';
import type { Recorded } from '../contract/event.ts';
import { isFenced } from '../contract/isolation.ts';
import type { Workflow } from '../contract/workflow.ts';
import { Drive } from './drive.ts';
import type { Stages } from '../attempt/attempt.ts';
import type { Home } from '../store/home.ts';
import { chooseSandbox, type Sandbox } from '../sandbox/choose.ts';
import { takeLock } from '../store/lock.ts';
import { openSqliteStore } from '../store/sqlite.ts';
import type { Store } from '../store/store.ts';
import { openEngineGit } from '../system/git/engine-git.ts';
import { assertOurs } from '../system/files/owned.ts';
import { inspectRepository, type Repository } from '../system/git/repository.ts';
import { openWorkspaces } from '../workspace/open.ts';
import { engineAtWork, engineFile } from './journal.ts';
import { Models, type ModelOptions } from './models.ts';
import { recoverMerge } from './recover-merge.ts';
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
  /** Takes work that goes on beside the run and never rejects; the engine closes after it. */
  meanwhile(work: Promise<unknown>): void;
  /** Throws where the way to models cannot be made as the workflow needs it. */
  checkModels(workflow: Workflow): Promise<void>;
  /** Opens a run to be driven, and says so to everybody who looks. */
  drive(
    run: string,
    options?: { seen?(events: Recorded[]): void; fault?(point: string): void },
  ): Promise<Drive>;
}

interface EngineOptions extends ModelOptions {
  unfenced?: boolean;
  /** For what frees more than it writes: where the disk is full, it gets the space that was set aside. */
  freesSpace?: boolean;
}

/** Takes the repository for this engine alone. */
export async function openEngine(
  cwd: string,
  { unfenced = false, freesSpace = false, ...modelOptions }: EngineOptions = {},
): Promise<Engine> {
  const repository = await inspectRepository(cwd);
  const home = await createHome(repository, freesSpace);
  assertOurs(home.journal, home.lock);
  const lock = takeLock(home.lock);
  if (!lock) throw busy(home);
  await using undo = new AsyncDisposableStack();
  undo.defer(() => lock[Symbol.dispose]());
  // A killed engine left word of its run: while we hold the lock it would be taken for ours.
  rmSync(engineFile(home), { force: true });
  await clearAttempts(home);
  const store = undo.use(openSqliteStore(home.journal));
  const recovered = await recoverMerge(home);
  const git = undo.use(await openEngineGit(repository));
  const sandbox = await chooseSandbox(home.sandbox, unfenced);
  if (sandbox.launcher.uid !== undefined) checkReadable(repository, sandbox.launcher.uid);
  const workspaces = undo.use(openWorkspaces(git, sandbox));
  const models = undo.use(new Models(home, modelOptions));
  const stages: Stages = {
    home,
    git,
    launcher: sandbox.launcher,
    isFenced: isFenced(sandbox),
    workspaces,
    models,
  };
  const all = undo.move();
  return {
    repository,
    home,
    store,
    stages,
    sandbox,
    notes: recovered === undefined ? [] : [recovered],
    meanwhile(work) {
      all.defer(async () => void (await work));
    },
    checkModels: (workflow) => models.check(workflow),
    async drive(run, options = {}) {
      await writeFile(engineFile(home), JSON.stringify({ pid: process.pid, run }), { mode: 0o600 });
      const drive = await Drive.open(run, {
        store,
        stages,
        machine: models.machine,
        nowMs: Date.now,
        ...options,
      });
      models.machine.onTrouble = (text) => drive.tell(text);
      models.onWait = (wait) => drive.waits(wait);
      return drive;
    },
    async [Symbol.asyncDispose]() {
      await rm(engineFile(home), { force: true });
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

function busy(home: Home): BosunError {
  const engine = engineAtWork(home);
  const who = engine?.run ? `it drives run ${engine.run}, process ${engine.pid}` : 'it has just started';
  return new BosunError(
    'busy',
    `another bosun is at work in ${home.top} (${who}); watch it with: bosun logs -f, end it with: bosun cancel, or wait`,
  );
}
