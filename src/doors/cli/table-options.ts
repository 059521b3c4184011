/** Arguments and options that several commands have. Words only: what they do is in the files of the commands. */
import type { Argument, Option } from './command.ts';

export const RUN_ARGUMENT: Argument = {
  name: 'run',
  about: 'run id; defaults to the only one at work, else the latest',
  complete: 'run',
};
export const RUN_OR_TASK: Argument = {
  name: 'run|task',
  about: 'run id, or a task of the run; defaults to the only run at work, else the latest',
  complete: 'run',
};
export const ON_RUN_OPTION: Option = {
  flags: '--run <run>',
  about: 'use this run; defaults to the only one at work, else the latest',
};
export const DETACH: Option = {
  flags: '-d, --detach',
  about: 'run in the background: print the id of the run and return',
};
export const QUEUE: Option = {
  flags: '-q, --queue',
  about: 'queue it for bosun work: print the id of the run and return',
};
export const JSON_EVENTS: Option = { flags: '--json', about: 'print events as NDJSON on stdout' };
export const VERBOSE: Option = {
  flags: '-v, --verbose',
  about: 'also print task output (without a live view)',
};
export const DIRTY: Option = {
  flags: '--dirty',
  about: 'start from the files as they are, uncommitted changes included',
};

export const USD_OPTION: Option = { flags: '--usd <dollars>', about: 'stop and ask when this much is spent' };

export const UNFENCED: Option = {
  flags: '--unfenced',
  about: 'run commands without fences: they can do whatever you can',
};

export const TRUST: Option = {
  flags: '--trust',
  about: 'let it reach beyond this repository, this time; BOSUN_TRUST=1 does the same',
};

export const CASSETTE: Option[] = [
  { flags: '--record <file>', about: 'record agents and models to a cassette file' },
  { flags: '--replay <file>', about: 'replay model responses from a cassette: no key, no network, no cost' },
  { flags: '--timing', about: 'replay at the recorded speed', needs: ['--replay'] },
];
