/** `bosun open`: a service of a run on a port of this machine, until it is ended or gone. */
import { BosunError } from '../../../contract/errors.ts';
import { plainLine, safeJson } from '../../../report/text/plain.ts';
import { ask, inputOf } from '../ask.ts';
import { isOn, type Typed } from '../command.ts';
import { say, writeError, writeOut } from '../output.ts';
import { untilStopped } from '../until-stopped.ts';

export async function run(typed: Typed): Promise<number> {
  const { args } = typed;
  if (args.length > 2) throw new BosunError('usage', 'write: bosun open [run] <service>');
  const [service, run] = args.toReversed();
  const named = { service: service!, ...(run !== undefined && { run }) };
  return await untilStopped(async (signal) => {
    await using opened = await ask('open', inputOf('open', typed, named), { signal });
    const { task, port, url } = opened;
    if (isOn(typed, 'json'))
      writeOut(`${safeJson({ run: opened.run, service: opened.service, task, port, url })}\n`);
    else writeOut(`${url}\n`);
    writeError(`${plainLine(`port ${port} of ${task} (run ${opened.run}); Ctrl-C closes it`)}\n`);
    const why = await opened.ended;
    if (!signal.aborted) say(plainLine(`${opened.service} is gone: ${why}`));
    return 0;
  });
}
