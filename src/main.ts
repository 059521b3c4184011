/** Where the program starts: argv → the CLI door. What needs no door is answered before one is loaded. */

// The launcher's variables are for this process alone: nothing that it starts may inherit them.
if (process.env.BOSUN_CACHE_SET !== undefined) delete process.env.NODE_COMPILE_CACHE;
delete process.env.BOSUN_CACHE_SET;

const FLUSHED_AFTER_MS = 2000;

const [first, second] = process.argv.slice(2);
if (first === '--version' || first === '-V') {
  // As an import it would take longer than all the rest.
  const { readFileSync } = process.getBuiltinModule('node:fs');
  const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
    version: string;
  };
  // A full disk or a closed pipe: there is nothing to clean up, and the exit code says it.
  process.stdout.on('error', ({ message }) => {
    process.exitCode = 1;
    process.stderr.write(`bosun: cannot write to stdout: ${message}\n`);
  });
  process.stdout.write(`${version}\n`);
} else if (first === 'agent' && second === 'mcp' && process.argv.length === 4) {
  // It starts with every agent, and where nothing is compiled yet: the door would take longer than all the rest.
  const { serveTools } = await import('./crew/tool-server.ts');
  await serveTools(process.stdin, process.stdout);
} else if (first === 'drive-apart' && process.argv.length === 3) {
  // What operations/apart/start.ts has started, in place of a process that may end: no door has asked for it here.
  const { driveApart } = await import('./operations/apart/drive.ts');
  await driveApart();
} else {
  // Node writes what it has compiled when it ends; an engine that is killed is to start quickly the next time, too.
  setTimeout(() => process.getBuiltinModule('node:module').flushCompileCache(), FLUSHED_AFTER_MS).unref();
  const { runCli } = await import('./doors/cli/cli.ts');
  await runCli(process.argv.slice(2));
}
