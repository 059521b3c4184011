import { describe, expect, it } from 'vitest';
import type { AgentEvent } from '../src/contract/model.ts';
import type { Json } from '../src/contract/workflow.ts';
import { agentLine } from '../src/schedule/views/agent-line.ts';

const HERE = '/home/me/repo/.git/bosun/sandbox/workspaces/agent-w-1.t.1-20261116T023359705Z';

function call(name: string, input: Json): string | undefined {
  const text = typeof input === 'string' ? input : JSON.stringify(input);
  return agentLine({ kind: 'tool-call', id: '1', name, input: text });
}

describe('what an agent does, as a line', () => {
  it('tells a tool call by its file, as the repository knows it, or by its command', () => {
    expect(call('Write', { content: 'x', file_path: `${HERE}/src/a.ts` })).toBe('→ Write src/a.ts');
    expect(call('Bash', { command: 'ls /bosun/workspace/src /bosun/workspaces' })).toBe(
      '→ Bash ls src /bosun/workspaces',
    );
    expect(call('edit', { filePath: 'src/a.ts', oldString: 'a' })).toBe('→ edit src/a.ts');
    expect(call('Bash', { command: `cd ${HERE} && ls ${HERE}/src`, timeout: 3 })).toBe(
      '→ Bash cd . && ls src',
    );
    expect(call('shell', ['npm', 'test'])).toBe('→ shell ["npm","test"]');
    expect(call('shell', { command: ['npm', 'test'] })).toBe('→ shell npm test');
    expect(call('shell', 'npm test')).toBe('→ shell npm test');
    expect(call('apply_patch', [{ path: 'a.ts', kind: 'add' }, { path: 'b.ts' }])).toBe(
      '→ apply_patch a.ts, b.ts',
    );
  });

  it('tells a patch by the files that it is about', () => {
    const patch = '*** Begin Patch\n*** Add File: a b.txt\n+hello\n*** Update File: c.txt\n*** End Patch\n';
    expect(call('apply_patch', { patchText: patch })).toBe('→ apply_patch a b.txt, c.txt');
    expect(call('apply_patch', patch)).toBe('→ apply_patch a b.txt, c.txt');
  });

  it('tells a call that has no such field by all of it, and one with nothing by its name', () => {
    expect(call('todo', { items: [1, 2] })).toBe('→ todo "items":[1,2]');
    expect(call('list', {})).toBe('→ list');
    expect(call('list', '')).toBe('→ list');
  });

  it('keeps to one short line', () => {
    expect(call('Bash', { command: 'cat <<E\none\nE' })).toBe('→ Bash cat <<E …');
    expect(call('Bash', { command: 'x'.repeat(5000) })!.length).toBeLessThan(220);
  });

  it('reads the field out of JSON that was too long to be kept whole', () => {
    const torn = `{"content":"${'x'.repeat(50)}","file_path":"${HERE}/a \\"b\\".ts","more":"… (900 more characters)`;
    expect(call('Write', torn)).toBe('→ Write a "b".ts');
  });

  it('shows a result only where it is a failure, with its first words', () => {
    const result = (isError: boolean): AgentEvent => ({
      kind: 'tool-result',
      id: '1',
      isError,
      text: `Exit code 1\n\ncat: ${HERE}/no.txt: No such file\nand more`,
    });
    expect(agentLine(result(true))).toBe('✗ Exit code 1 · cat: no.txt: No such file');
    expect(agentLine(result(false))).toBeUndefined();
  });

  it('leaves other paths alone', () => {
    expect(agentLine({ kind: 'text', text: `see /etc/hosts and ${HERE}/a.ts` })).toBe(
      'see /etc/hosts and a.ts',
    );
  });
});
