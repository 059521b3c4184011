/** Shows a run: copies the example into a new repository and runs its workflow there. No key, no network. */
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

const root = path.resolve(import.meta.dirname, '..');
const repository = mkdtempSync(path.join(tmpdir(), 'bosun-demo-'));
const git = (...args: string[]): void => {
  execFileSync('git', args, { cwd: repository, stdio: ['ignore', 'ignore', 'inherit'] });
};

cpSync(path.join(root, 'examples/calculator'), repository, { recursive: true });
git('init', '--quiet', '--initial-branch=main');
git('add', '--all');
git('-c', 'user.name=demo', '-c', 'user.email=demo@localhost', 'commit', '--quiet', '-m', 'Start');
process.stderr.write(`A small repository with a workflow of six tasks: ${repository}\n\n`);

const bosun = path.join(root, 'bin/bosun');
const { status } = spawnSync(bosun, ['run'], { cwd: repository, stdio: 'inherit' });
if (status === 0) {
  process.stderr.write(
    `\nThe report as a page: ${path.join(repository, '.git/bosun/runs/calculator-1/report.html')}\n` +
      `Now land the work:    cd ${repository} && ${bosun} merge\n`,
  );
}
process.exit(status ?? 1);
