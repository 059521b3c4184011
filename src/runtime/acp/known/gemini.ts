/** Gemini CLI behind the Agent Client Protocol: where it looks for models, settings and sessions. */
import { randomUUID } from 'node:crypto';
import path from 'node:path';
import { shellQuoted } from '../../../base/shell-word.ts';
import { chooseModel } from '../../agent/choose-model.ts';
import { makeHome, writeAnew } from '../../agent/home.ts';
import type { KnownAgent } from '../../descriptor.ts';

export const GEMINI: KnownAgent = {
  isProgram: /^gemini$/,
  program: 'gemini',
  command: 'gemini --acp',
  package: '@google/gemini-cli',
  dialects: ['gemini'],
  // It uses tool servers only where it trusts all that is in here.
  obeys: ['.gemini'],
  async prepare(job) {
    const { model } = chooseModel(job, this.dialects);
    const copy = job.session?.fork ? randomUUID() : undefined;
    const home = await makeHome(job, 'gemini');
    const settings = {
      security: { auth: { selectedType: 'gemini-api-key' }, folderTrust: { enabled: true } },
      general: { enableAutoUpdate: false, enableAutoUpdateNotification: false },
      privacy: { usageStatisticsEnabled: false },
      telemetry: { enabled: false },
      // Variables of the repository's .env would be set, such as where models are.
      advanced: { ignoreLocalEnv: true },
      context: { fileName: ['AGENTS.md', 'GEMINI.md'] },
    };
    await writeAnew(await makeHome({ memory: home }, '.gemini'), 'settings.json', JSON.stringify(settings));
    return {
      env: {
        GEMINI_CLI_HOME: home,
        GEMINI_CLI_NO_RELAUNCH: 'true',
        // Where it does not trust the workspace it reads no GEMINI.md and uses no tool servers, not even ours. Where it does
        // it obeys what is in `.gemini`, which the fence covers.
        GEMINI_CLI_TRUST_WORKSPACE: String(job.isFenced),
        ...(model !== undefined && { GEMINI_MODEL: model }),
      },
      authMethod: 'gemini-api-key',
      ...(copy !== undefined && { copy }),
      ...(job.session && { first: keepConversation(home, job.cwd, job.session.id, copy) }),
    };
  },
};

/**
 * Its file is named for the minute in which it was begun: who goes on within that minute writes an empty one over it,
 * and whoever comes next takes away all of that conversation, since one of its files is empty. It belongs to the
 * directory that it was begun in, unless that is said to have moved. Done inside the fence, since the agent could have
 * put links there.
 */
function keepConversation(home: string, cwd: string, session: string, copy: string | undefined): string {
  const kept = `session-0-${shortened(session)}.jsonl`;
  return `(cd ${shellQuoted(path.join(home, '.gemini/tmp'))} || exit
for file in */chats/session-*-${shortened(session)}.jsonl; do
  chats=\${file%/*} slug=\${file%%/*}
  [ -e "$chats/${kept}" ] || mv "$file" "$chats/${kept}" || continue
  [ "$file" = "$chats/${kept}" ] || rm -f "$file"
  ${copy === undefined ? ':' : `sed s/${plain(session)}/${copy}/g "$chats/${kept}" > "$chats/session-0-${shortened(copy)}.jsonl"`}
  for place in "$slug" "../history/$slug"; do printf %s ${shellQuoted(cwd)} > "$place/.project_root"; done
done) 2>/dev/null`;
}

function plain(id: string): string {
  return id.replaceAll(/[^\w-]/g, '');
}

function shortened(id: string): string {
  return plain(id).slice(0, 8);
}
