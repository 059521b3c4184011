/** Starts a model server from a script in a file. What is wrong with the script is thrown as one error with places. */
import path from 'node:path';
import type { Asked } from '../contract/operations.ts';
import { throwProblems, type Problem } from '../definition/source/problem.ts';
import { readText } from '../definition/source/read-text.ts';
import { schemaProblems, show } from '../definition/source/schema-problems.ts';
import { readSource } from '../definition/source/source.ts';
import { ModelScript, type ModelScriptSource } from '../model-server/script.ts';
import { startModelServer, type ModelServer, type ModelServerOptions } from '../model-server/server.ts';

export type { LoggedRequest } from '../model-server/request-log.ts';
export type { ModelServer };

export async function openModelServer(
  options: Pick<Asked<'modelServer'>, 'cwd' | 'file' | 'port'> & Omit<ModelServerOptions, 'script'>,
): Promise<ModelServer> {
  const { cwd, file, ...rest } = options;
  return startModelServer({ ...rest, script: readScript(cwd, file) });
}

function readScript(cwd: string, file: string): ModelScriptSource {
  const read = readText(path.resolve(cwd, file));
  if ('problem' in read)
    return throwProblems([{ file, path: '', message: `cannot be read: ${read.problem}` }]);
  const source = readSource(read.text, file);
  if (source.problems.length > 0) return throwProblems(source.problems);
  const { data } = source;
  if (typeof data !== 'object' || data === null || Array.isArray(data)) {
    const message = `a script is a map with "rules" or "answers", but this is ${show(data)}`;
    return throwProblems([source.locate({ path: [], message })]);
  }
  const parsed = ModelScript.safeParse(data);
  if (parsed.success) return data;
  const { issues } = parsed.error;
  const schemas = issues.filter(({ code }) => code !== 'custom');
  // A rule that says nothing may only be misspelled.
  const problems: Problem[] =
    schemas.length > 0
      ? schemaProblems(schemas, data, ModelScript)
      : issues.map(({ path, message }) => ({ path: path as (string | number)[], message }));
  return throwProblems(
    problems.map((problem) => ({
      ...source.locate(problem),
      message: problem.message.replace('the workflow', 'the script'),
    })),
  );
}
