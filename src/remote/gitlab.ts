/** Merge requests on GitLab, through `glab api`. */
import { fieldsOf } from '../base/fields.ts';
import type { Address } from './address.ts';
import { callHost, findHostProgram, type HostProgram } from './host-program.ts';
import {
  nameIn,
  requestIn,
  requireRequest,
  ReviewReader,
  type PullRequest,
  type RequestHost,
} from './request-host.ts';

/** From this level on a member may push. */
const DEVELOPER = 30;

/** Undefined where `glab` is not installed. */
export function gitlabHost({ hostname, path }: Address, signal?: AbortSignal): RequestHost | undefined {
  const found = findHostProgram('glab', hostname);
  if (!found) return undefined;
  const host: HostProgram = { ...found, signal };
  const at = `projects/${encodeURIComponent(path)}`;
  return {
    async baseDefault() {
      return nameIn(fieldsOf(await callHost(host, at)).default_branch);
    },
    async find(branch) {
      const query = `state=opened&per_page=1&source_branch=${encodeURIComponent(branch)}`;
      return firstIn(await callHost(host, `${at}/merge_requests?${query}`));
    },
    async open({ branch, base, title, body, draft }) {
      const made = await callHost(host, `${at}/merge_requests`, {
        method: 'POST',
        body: {
          source_branch: branch,
          target_branch: base,
          title: draft ? `Draft: ${title}` : title,
          description: body,
        },
      });
      return requireRequest(firstIn([made]), hostname);
    },
    async review({ number }) {
      const members = listIn(await callHost(host, `${at}/members/all?per_page=100`));
      const mayPush = new Set(
        members.flatMap(({ id, access_level: level }) =>
          typeof level === 'number' && level >= DEVELOPER ? [id] : [],
        ),
      );
      const endpoint = `${at}/merge_requests/${number}/discussions?per_page=100`;
      const reader = new ReviewReader();
      for (const discussion of listIn(await callHost(host, endpoint)))
        for (const note of listIn(discussion.notes)) {
          if (note.system === true || note.resolved === true) continue;
          const { id, username } = fieldsOf(note.author);
          const { new_path: file, new_line: line } = fieldsOf(note.position);
          reader.add({ author: username, text: note.body, file, line }, mayPush.has(id));
        }
      return reader.end();
    },
  };
}

function firstIn(value: unknown): PullRequest | undefined {
  const [first] = listIn(value);
  return first && requestIn(first.iid, first.web_url);
}

function listIn(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.map(fieldsOf) : [];
}
