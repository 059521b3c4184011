/** Addresses of remotes: what git may be handed, and what never reaches it. */
import { describe, expect, it } from 'vitest';
import { parseAddress } from '../src/remote/address.ts';
import { forgeOf, newRequestPage, pageOf } from '../src/remote/forge.ts';
import { directoryFor } from '../src/remote/clone.ts';
import { plainWords, failureOf, withoutToken } from '../src/remote/failure.ts';

describe('an address', () => {
  it.each([
    ['https://github.com/owner/app.git', 'https', 'github.com', 'owner/app'],
    ['https://GitHub.com/owner/app/', 'https', 'github.com', 'owner/app'],
    ['https://org@dev.azure.com/org/p/_git/app', 'https', 'dev.azure.com', 'org/p/_git/app'],
    ['https://git.example.com:8443/app', 'https', 'git.example.com:8443', 'app'],
    ['http://127.0.0.1:3000/app.git', 'http', '127.0.0.1:3000', 'app'],
    ['http://[::1]:3000/app.git', 'http', '[::1]:3000', 'app'],
    ['ssh://git@example.com:2222/~/app.git', 'ssh', 'example.com:2222', '~/app'],
    ['git@example.com:group/sub/app.git', 'ssh', 'example.com', 'group/sub/app'],
    ['work:app', 'ssh', 'work', 'app'],
  ])('%s is read', (text, transport, host, path) => {
    expect(parseAddress(text)).toMatchObject({ transport, host, path });
  });

  it.each([
    ['', 'empty'],
    ['ext::sh -c touch% x', 'blanks'],
    ['ext::sh', 'names a program'],
    ['fd::17', 'names a program'],
    ['file:///etc', 'use https or ssh'],
    ['FILE:///etc', 'use https or ssh'],
    ['git://example.com/x', 'use https or ssh'],
    ['ftp://example.com/x', 'use https or ssh'],
    ['http://example.com/x', 'use https'],
    ['http://127.0.0.1.example.com/x', 'use https'],
    ['/srv/git/app.git', 'directory'],
    ['../app', 'directory'],
    ['app', 'not the address of a repository: write it in full, such as https://github.com/owner/repository'],
    ['github.com/owner/app', 'such as https://github.com/owner/app'],
    ['--upload-pack=touch', 'dash'],
    ['-oProxyCommand=touch:x', 'dash'],
    ['ssh://-oProxyCommand=touch/x', 'odd characters'],
    ['ssh://git@-oProxyCommand=touch/x', 'odd characters'],
    ['git@-oProxyCommand=touch:x', 'odd characters'],
    ['-git@example.com:x', 'dash'],
    ['ssh://-git@example.com/x', 'odd characters'],
    ['git@example.com:-x', 'dash'],
    ['a$(touch x)@example.com:x', 'blanks'],
    ['a;b@example.com:x', 'odd characters'],
    ['https://example.com/a\nb', 'control characters'],
    ['https://example.com/a\u202eb', 'control characters'],
    ['https://example.com/a\u0000b', 'control characters'],
    ['https://example.com', 'no repository'],
    ['https://example.com/x?token=a', '? or #'],
    ['https://', 'not valid'],
    [`https://example.com/${'x'.repeat(3000)}`, 'length'],
  ])('%j is refused', (text, why) => {
    expect(() => parseAddress(text)).toThrow(why);
  });

  it.each([
    'https://user:s3cret@example.com/x',
    'https://ghp_s3cret@github.com/x',
    'https://s3crets3crets3crets3crets3crets3cret@github.com/x',
    'ssh://git:s3cret@example.com/x',
  ])('with a password in it is refused, says what to do, and is not shown: %s', (text) => {
    const told = /^(?!.*s3cret).*password.*--token-file/;
    expect(() => parseAddress(text)).toThrow(told);
  });

  it('names the directory of a clone, where that is a plain name', () => {
    expect(directoryFor('owner/app')).toBe('app');
    for (const path of ['x/..', 'x/.', 'x/%2e%2e', 'x/-rf', 'x/a%2Fb', 'x/a%0Ab', 'x/%E2%80%AEb'])
      expect(() => directoryFor(path), path).toThrow('no name');
  });
});

describe('a link to make a pull request', () => {
  it.each([
    ['git@github.com:o/r.git', 'https://github.com/o/r/compare/main...bosun/x-1?expand=1'],
    [
      'https://gitlab.com/g/s/r.git',
      'https://gitlab.com/g/s/r/-/merge_requests/new?merge_request%5Bsource_branch%5D=bosun%2Fx-1&merge_request%5Btarget_branch%5D=main',
    ],
    [
      'ssh://git@bitbucket.org/o/r',
      'https://bitbucket.org/o/r/pull-requests/new?source=bosun%2Fx-1&dest=main',
    ],
    ['https://codeberg.org/o/r', 'https://codeberg.org/o/r/compare/main...bosun/x-1'],
    ['ssh://git@gitea.example.com:2222/o/r', 'https://gitea.example.com/o/r/compare/main...bosun/x-1'],
  ])('of %s', (text, link) => {
    const address = parseAddress(text);
    expect(newRequestPage(forgeOf(address)!, address, 'bosun/x-1', 'main')).toBe(link);
  });

  it('is by what the user configured, and none of a host nobody knows', () => {
    const address = parseAddress('https://git.example.com/o/r');
    expect(forgeOf(address)).toBeUndefined();
    expect(forgeOf(parseAddress('https://github.com.evil.example/o/r'))).toBe('github');
    expect(newRequestPage(forgeOf(address, 'gitlab')!, address, 'a&b')).toMatch(/a%26b$/);
    expect(pageOf(parseAddress('https://git.example.com/o/a"b'))).toBe('https://git.example.com/o/a%22b');
  });
});

describe('what a server says', () => {
  const address = parseAddress('https://example.com/o/r');
  const of = (stderr: string): { code: string; message: string } =>
    failureOf('cannot push', stderr, { address }).error;

  it('is bounded and harmless', () => {
    expect(plainWords('a\u001b[31mb\r\nhint: x\nc\u0000\u202ed')).toBe('a [31mb; c d');
    expect(plainWords('x\n'.repeat(100)).split(';')).toHaveLength(8);
    expect(plainWords('x'.repeat(5000))).toHaveLength(1000);
  });

  it('never decides what went wrong', () => {
    const lied = `remote: fatal: Authentication failed for 'x'\nremote: No space left on device\nfatal: unable to access 'https://example.com/o/r/': The requested URL returned error: 503\n`;
    expect(of(lied)).toMatchObject({ code: 'network' });
    expect(of(lied).message).toContain('overloaded');
  });

  it('has no token in it, even where the server says it back', () => {
    expect(withoutToken('your token s3cret!', { value: 's3cret', how: 'file x' })).toBe('your token ***!');
  });

  it.each([
    ["fatal: Authentication failed for 'https://example.com/o/r/'", 'auth', 'does not accept the login'],
    [
      "fatal: could not read Username for 'https://example.com': terminal prompts disabled",
      'auth',
      'asks for a login',
    ],
    [
      "fatal: unable to access 'https://example.com/': The requested URL returned error: 403",
      'auth',
      'login',
    ],
    ['git@example.com: Permission denied (publickey).', 'auth', 'ssh keys'],
    ['Host key verification failed.', 'auth', 'check its key'],
    ["fatal: repository 'https://example.com/o/r/' not found", 'not-found', 'no such repository'],
    ["fatal: unable to access 'https://x/': Could not resolve host: x", 'network', 'name cannot be found'],
    ["fatal: unable to access 'https://x/': Failed to connect to x port 443", 'network', 'reached'],
    ['ssh: connect to host x port 22: Connection timed out', 'network', 'reached'],
    [
      "fatal: unable to access 'https://x/': server certificate verification failed.",
      'network',
      'certificate',
    ],
    ['error: RPC failed; HTTP 500 curl 22', 'network', 'broke'],
    ["fatal: transport 'file' not allowed", 'usage', 'insteadOf'],
    ['fatal: write error: No space left on device', 'system', 'free some space'],
    ['something new', 'network', 'something new'],
  ])('%s is %s', (stderr, code, words) => {
    expect(of(stderr)).toMatchObject({ code });
    expect(of(stderr).message).toContain(words);
  });
});
