/** Reads what `git merge-tree --write-tree -z` says. */
import { splitNul } from './git.ts';

interface Stage {
  mode: string;
  oid: string;
  /** 1 is the common ancestor, 2 the first commit, 3 the second. */
  stage: 1 | 2 | 3;
  path: Buffer;
}

export interface MergeTree {
  /** Where there are conflicts, its files hold the markers. */
  tree: string;
  stages: Stage[];
  /** What git says about paths; `type` is stable, such as `CONFLICT (file/directory)`. */
  messages: { paths: Buffer[]; type: string }[];
  /** Paths in conflict, each once. */
  files: string[];
}

/** <tree>\0 (<mode> <oid> <stage>\t<path>\0)* \0 (<count>\0 <path>\0… <type>\0 <text>\0)* */
export function parseMergeTree(output: Buffer): MergeTree {
  const fields = splitNul(output);
  const tree = fields[0]!.toString();
  const stages: Stage[] = [];
  let at = 1;
  for (; at < fields.length && fields[at]!.length > 0; at += 1) {
    const field = fields[at]!;
    const tab = field.indexOf(9);
    const [mode, oid, stage] = field.subarray(0, tab).toString().split(' ') as [string, string, string];
    stages.push({ mode, oid, stage: Number(stage) as Stage['stage'], path: field.subarray(tab + 1) });
  }
  const messages: MergeTree['messages'] = [];
  for (at += 1; at < fields.length;) {
    const count = Number(fields[at]!.toString());
    const paths = fields.slice(at + 1, at + 1 + count);
    messages.push({ paths, type: fields[at + 1 + count]?.toString() ?? '' });
    at += count + 3;
  }
  const parked = parkedNames(messages);
  const files = [...new Set(stages.map(({ path }) => parked.get(path.toString()) ?? path.toString()))];
  return { tree, stages, messages, files };
}

/** Where one side has a file and the other a directory, git parks the file as `name~commit`: its own name. */
function parkedNames(messages: MergeTree['messages']): Map<string, string> {
  const names = new Map<string, string>();
  for (const paths of messages.map((message) => message.paths.map(String))) {
    for (const path of paths) {
      const own = paths.find((other) => path.startsWith(`${other}~`));
      if (own !== undefined) names.set(path, own);
    }
  }
  return names;
}
