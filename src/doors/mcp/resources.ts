/** Runs as resources: how each stands, its log, its report. They are read, never written. */
import {
  ProtocolError,
  ProtocolErrorCode,
  ResourceTemplate,
  type McpServer,
  type ReadResourceResult,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { BosunError, ERRORS } from '../../contract/errors.ts';
import { followLogs } from '../../operations/perform.ts';
import { bounded, endOf, plainText } from './bounds.ts';
import { messageOf } from './failures.ts';
import { askAs, type ToolContext } from './tool.ts';

const RUNS_LISTED = 20;
const TASKS_SHOWN = 200;
const TEXT_CHARS_MAX = 64 * 1024;
const REPORT_COLUMNS = 100;

interface Kind {
  /** What follows the run in the address. */
  part: string;
  title: string;
  about: string;
  type: string;
  read(run: string, asking: ToolContext): Promise<string>;
}

const KINDS: readonly Kind[] = [
  {
    part: '',
    title: 'Run',
    about: 'How a run stands, as JSON.',
    type: 'application/json',
    read: async (run, asking) =>
      JSON.stringify(bounded(await askAs(asking, 'status', { run, limit: TASKS_SHOWN })), null, 1),
  },
  {
    part: '/log',
    title: 'Log',
    about: 'What happened in a run, and what its agents said: the end of it, where it is long.',
    type: 'text/plain',
    read: readLog,
  },
  {
    part: '/report',
    title: 'Report',
    about: 'What a run did, what it cost, and what is to be done next.',
    type: 'text/plain',
    read: async (run, asking) => {
      const { renderTextReport } = await import('../../report/text/text.ts'); // few ask for it
      const report = await askAs(asking, 'report', { run, written: true });
      return plainText(renderTextReport(report, { color: false, width: REPORT_COLUMNS })).slice(
        0,
        TEXT_CHARS_MAX,
      );
    },
  },
];

export function offerResources(server: McpServer, askingFor: (context: ServerContext) => ToolContext): void {
  for (const kind of KINDS) {
    const { part, title, about, type } = kind;
    const list = async (
      context: ServerContext,
    ): Promise<{ resources: { uri: string; name: string; mimeType: string }[] }> => {
      const runs = await askAs(askingFor(context), 'history', { limit: RUNS_LISTED }).catch(() => []); // no run yet
      return {
        resources: runs.map(({ id }) => ({
          uri: `bosun://runs/${encodeURIComponent(id)}${part}`,
          name: `${title} of ${plainText(id)}`,
          mimeType: type,
        })),
      };
    };
    server.registerResource(
      `run${part.replace('/', '-')}`,
      new ResourceTemplate(`bosun://runs/{run}${part}`, { list }),
      { title, description: about, mimeType: type },
      (uri, { run }, context) => read(kind, uri, String(run), askingFor(context)),
    );
  }
}

async function read(
  { type, read: load }: Kind,
  uri: URL,
  run: string,
  asking: ToolContext,
): Promise<ReadResourceResult> {
  try {
    const text = await load(decodeURIComponent(run), asking);
    return { contents: [{ uri: uri.href, mimeType: type, text }] };
  } catch (error) {
    const isTheirs = error instanceof BosunError && ERRORS[error.code].http < 500;
    const code = isTheirs ? ProtocolErrorCode.InvalidParams : ProtocolErrorCode.InternalError;
    throw new ProtocolError(code, plainText(messageOf(error)), { uri: uri.href });
  }
}

/** Only its end is kept, however long it is. */
async function readLog(run: string, { cwd, by, signal }: ToolContext): Promise<string> {
  const { EventLines } = await import('../../report/lines/event-lines.ts');
  const { painter } = await import('../../report/text/paint.ts');
  const lines = new EventLines({ paint: painter(false), withOutput: true });
  let text = '';
  for await (const page of followLogs({ run }, { cwd, by, signal }))
    text = endOf(text + page.map((recorded) => lines.render(recorded)).join(''), TEXT_CHARS_MAX);
  signal.throwIfAborted();
  return plainText(text);
}
