/** Pull requests on GitHub, through `gh api`. */
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

const PATH = /^([\w.-]+)\/([\w.-]+)$/;
/** Everybody else may write comments too. These may belong to its owner and only read, so each of them is asked about. */
const CLOSE = ['OWNER', 'MEMBER', 'COLLABORATOR'];
const MAY_PUSH = ['admin', 'write'];
const AUTHORS_ASKED_MAX = 200;
const LOGIN = /^\w[\w-]{0,99}$/;
const COMMENT = 'author { __typename login } authorAssociation body';
/** What a review is made of, and what is read of each. */
const PARTS = {
  reviewThreads: `isResolved path line comments(first: 50) { totalCount nodes { ${COMMENT} } }`,
  reviews: `state ${COMMENT}`,
  comments: COMMENT,
};

/** Undefined where `gh` is not installed. */
export function githubHost({ hostname, path }: Address, signal?: AbortSignal): RequestHost | undefined {
  const found = findHostProgram('gh', hostname);
  const [, owner, name] = PATH.exec(path) ?? [];
  if (!found || owner === undefined || name === undefined) return undefined;
  const host: HostProgram = { ...found, signal };
  const at = `repos/${owner}/${name}`;
  return {
    async baseDefault() {
      return nameIn(fieldsOf(await callHost(host, at)).default_branch);
    },
    async find(branch) {
      const head = encodeURIComponent(`${owner}:${branch}`);
      return firstIn(await callHost(host, `${at}/pulls?state=open&per_page=1&head=${head}`));
    },
    async open({ branch, base, title, body, draft }) {
      const made = await callHost(host, `${at}/pulls`, {
        method: 'POST',
        body: { title, body, head: branch, base, draft },
      });
      return requireRequest(firstIn([made]), hostname);
    },
    async review({ number }) {
      const read = (part: keyof typeof PARTS): Promise<Part> =>
        readPart(part, async (query, after) => {
          const body = { query, variables: { owner, name, number, after } };
          return await callHost(host, 'graphql', { method: 'POST', body });
        });
      const [threads, reviews, comments] = await Promise.all([
        read('reviewThreads'),
        read('reviews'),
        read('comments'),
      ]);
      const reader = new ReviewReader();
      const levels = new Map<string, Promise<unknown>>();
      /** Undefined where too many were asked about. */
      const mayPush = async (comment: Record<string, unknown>): Promise<boolean | undefined> => {
        const { __typename: kind, login } = fieldsOf(comment.author);
        // a bot may be called as somebody else is
        if (kind !== 'User' || typeof login !== 'string' || !LOGIN.test(login)) return false;
        if (!CLOSE.includes(String(comment.authorAssociation))) return false;
        if (!levels.has(login) && levels.size >= AUTHORS_ASKED_MAX) return undefined;
        const level =
          levels.get(login) ?? callHost(host, `${at}/collaborators/${login}/permission`, { mayLack: true });
        levels.set(login, level);
        return MAY_PUSH.includes(String(fieldsOf(await level).permission));
      };
      const add = async (
        comment: Record<string, unknown>,
        place: Record<string, unknown> = {},
      ): Promise<void> => {
        const { login } = fieldsOf(comment.author);
        const said = { author: login, text: comment.body, file: place.path, line: place.line };
        const isTrusted = await mayPush(comment);
        if (isTrusted === undefined) reader.leave(1);
        else reader.add(said, isTrusted);
      };
      for (const thread of threads.nodes) {
        if (thread.isResolved === true) continue;
        const said = nodesIn(thread.comments);
        for (const comment of said) await add(comment, thread);
        reader.leave(restOf(thread.comments, said.length));
      }
      for (const review of reviews.nodes) if (review.state !== 'DISMISSED') await add(review);
      for (const comment of comments.nodes) await add(comment);
      for (const { left } of [threads, reviews, comments]) reader.leave(left);
      return reader.end();
    },
  };
}

interface Part {
  nodes: Record<string, unknown>[];
  /** More than there are pages for. */
  left: number;
}

async function readPart(
  part: keyof typeof PARTS,
  ask: (query: string, after: string | null) => Promise<unknown>,
): Promise<Part> {
  const query = `query($owner: String!, $name: String!, $number: Int!, $after: String) {
  repository(owner: $owner, name: $name) {
    pullRequest(number: $number) {
      ${part}(first: 100, after: $after) { totalCount pageInfo { hasNextPage endCursor } nodes { ${PARTS[part]} } }
    }
  }
}`;
  const nodes: Record<string, unknown>[] = [];
  let after: string | null = null;
  for (let pages = 1; ; pages += 1) {
    const answer: unknown = await ask(query, after);
    const page: Record<string, unknown> = ['data', 'repository', 'pullRequest', part].reduce(
      (of, field) => fieldsOf(of[field]),
      fieldsOf(answer),
    );
    nodes.push(...nodesIn(page));
    const { hasNextPage, endCursor } = fieldsOf(page.pageInfo);
    if (hasNextPage !== true) return { nodes, left: 0 };
    // there is more, even if nobody says how much
    if (pages === PAGES_MAX || typeof endCursor !== 'string')
      return { nodes, left: Math.max(1, restOf(page, nodes.length)) };
    after = endCursor;
  }
}

function restOf(list: unknown, read: number): number {
  const { totalCount } = fieldsOf(list);
  return Number.isSafeInteger(totalCount) ? Math.max(0, (totalCount as number) - read) : 0;
}

function firstIn(value: unknown): OpenRequest | undefined {
  const [first] = Array.isArray(value) ? value : [];
  const { number, html_url: url } = fieldsOf(first);
  return requestIn(number, url);
}

function nodesIn(value: unknown): Record<string, unknown>[] {
  const { nodes } = fieldsOf(value);
  return Array.isArray(nodes) ? nodes.map(fieldsOf) : [];
}
