/** Pull requests on GitHub, through `gh api`. */
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

const PATH = /^([\w.-]+)\/([\w.-]+)$/;
/** Those who may push to it, or belong to its owner; everybody else may write comments too. */
const TRUSTED = ['OWNER', 'MEMBER', 'COLLABORATOR'];
const COMMENT = 'author { login } authorAssociation body';
const QUERY = `query($owner: String!, $name: String!, $number: Int!) {
  repository(owner: $owner, name: $name) {
    pullRequest(number: $number) {
      reviewThreads(first: 100) { nodes { isResolved path line comments(first: 50) { nodes { ${COMMENT} } } } }
      reviews(last: 50) { nodes { state ${COMMENT} } }
      comments(last: 50) { nodes { ${COMMENT} } }
    }
  }
}`;

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
      const body = { query: QUERY, variables: { owner, name, number } };
      const answer = fieldsOf(await callHost(host, 'graphql', { method: 'POST', body }));
      const request = ['data', 'repository', 'pullRequest'].reduce(
        (of, field) => fieldsOf(of[field]),
        answer,
      );
      const reader = new ReviewReader();
      const add = (comment: Record<string, unknown>, place: Record<string, unknown> = {}): void => {
        const isTrusted = TRUSTED.includes(String(comment.authorAssociation));
        const { login } = fieldsOf(comment.author);
        reader.add({ author: login, text: comment.body, file: place.path, line: place.line }, isTrusted);
      };
      for (const thread of nodesIn(request.reviewThreads))
        if (thread.isResolved !== true) for (const comment of nodesIn(thread.comments)) add(comment, thread);
      for (const review of nodesIn(request.reviews)) if (review.state !== 'DISMISSED') add(review);
      for (const comment of nodesIn(request.comments)) add(comment);
      return reader.end();
    },
  };
}

function firstIn(value: unknown): PullRequest | undefined {
  const [first] = Array.isArray(value) ? value : [];
  const { number, html_url: url } = fieldsOf(first);
  return requestIn(number, url);
}

function nodesIn(value: unknown): Record<string, unknown>[] {
  const { nodes } = fieldsOf(value);
  return Array.isArray(nodes) ? nodes.map(fieldsOf) : [];
}
