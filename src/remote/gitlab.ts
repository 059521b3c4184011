/** Merge requests on GitLab, through `glab api`. */
import { fieldsOf } from '../base/fields.ts';
import type { Address } from './address.ts';
import { callHost, findHostProgram, type HostProgram } from './host-program.ts';
import {
  nameIn,
  PAGES_MAX,
  requestIn,
  requireRequest,
  ReviewReader,
  type OpenRequest,
  type RequestHost,
} from './request-host.ts';

/** From this level on a member may push. */
const DEVELOPER = 30;
const PER_PAGE = 100;

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
      const members = await readPages(host, `${at}/members/all`);
      const mayPush = new Set(
        members.items.flatMap(({ id, access_level: level }) =>
          typeof level === 'number' && level >= DEVELOPER ? [id] : [],
        ),
      );
      const known = new Set(members.items.map(({ id }) => id));
      const discussions = await readPages(host, `${at}/merge_requests/${number}/discussions`);
      const reader = new ReviewReader();
      if (discussions.isCut) reader.leave(1);
      for (const discussion of discussions.items)
        for (const note of listIn(discussion.notes)) {
          if (note.system === true || note.resolved === true) continue;
          const { id, username } = fieldsOf(note.author);
          const { new_path: file, new_line: line } = fieldsOf(note.position);
          if (members.isCut && !known.has(id)) reader.leave(1);
          else reader.add({ author: username, text: note.body, file, line }, mayPush.has(id));
        }
      return reader.end();
    },
  };
}

/** All of a list, unless it is longer than anybody reads. */
async function readPages(
  host: HostProgram,
  endpoint: string,
): Promise<{ items: Record<string, unknown>[]; isCut: boolean }> {
  const items: Record<string, unknown>[] = [];
  for (let page = 1; page <= PAGES_MAX; page += 1) {
    const found = listIn(await callHost(host, `${endpoint}?per_page=${PER_PAGE}&page=${page}`));
    items.push(...found);
    if (found.length < PER_PAGE) return { items, isCut: false };
  }
  return { items, isCut: true };
}

function firstIn(value: unknown): OpenRequest | undefined {
  const [first] = listIn(value);
  return first && requestIn(first.iid, first.web_url);
}

function listIn(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.map(fieldsOf) : [];
}
