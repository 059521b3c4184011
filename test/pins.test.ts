/** What programs rely on by name: a change here is a change for them, so it is made on purpose. */
import { describe, expect, it } from 'vitest';
import { ERRORS } from '../src/contract/errors.ts';
import * as api from '../src/index.ts';

describe('names that programs rely on', () => {
  it('are the exports of the package', () => {
    expect(Object.keys(api).toSorted()).toEqual([
      'Bosun',
      'BosunError',
      'loadWorkflow',
      'startModelServer',
      'workflow',
    ]);
  });

  it('are the codes of errors, with what they mean at every door', () => {
    expect(Object.entries(ERRORS).map(([code, { exit, http, rpc }]) => [code, exit, http, rpc])).toEqual([
      ['usage', 2, 400, -32602],
      ['invalid-workflow', 2, 422, -32001],
      ['not-supported', 2, 501, -32002],
      ['no-repository', 2, 409, -32003],
      ['not-found', 2, 404, -32004],
      ['busy', 2, 409, -32005],
      ['wrong-state', 2, 409, -32006],
      ['not-trusted', 2, 403, -32010],
      ['conflict', 1, 409, -32007],
      ['check', 1, 409, -32011],
      ['journal', 1, 500, -32008],
      ['system', 1, 500, -32009],
    ]);
  });
});
