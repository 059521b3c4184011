import { describe, expect, it } from 'vitest';
import { whyNotPublic } from '../../src/egress/addresses.ts';
import { AllowList, problemOfEntry } from '../../src/egress/allow-list.ts';
import { parseAuthority } from '../../src/egress/authority.ts';

describe('what is allowed', () => {
  it('an entry without a port opens 80 and 443, one with a port that alone', () => {
    const list = new AllowList([
      'example.com',
      'other.test:8080',
      '10.0.0.5',
      '[fd00::5]:99',
      '2001:4860::1',
    ]);
    const allowed = (host: string, isAddress = false): number[] =>
      [80, 99, 443, 8080].filter((each) => list.allows(host, isAddress, each));
    expect(allowed('example.com')).toEqual([80, 443]);
    expect(allowed('other.test')).toEqual([8080]);
    expect(allowed('10.0.0.5', true)).toEqual([80, 443]);
    expect(allowed('fd00::5', true)).toEqual([99]);
    expect(allowed('2001:4860::1', true)).toEqual([80, 443]);
    expect(allowed('sub.example.com')).toEqual([]);
    expect(allowed('notexample.com')).toEqual([]);
    expect(allowed('example.com.evil.test')).toEqual([]);
  });

  it('a wildcard is for everything below a name and not for the name', () => {
    const list = new AllowList(['*.example.com', '*.other.test:8080', 'BÜCHER.example.']);
    expect(list.allows('a.example.com', false, 443)).toBe(true);
    expect(list.allows('a.b.example.com', false, 443)).toBe(true);
    expect(list.allows('example.com', false, 443)).toBe(false);
    expect(list.allows('aexample.com', false, 443)).toBe(false);
    expect(list.allows('a.other.test', false, 443)).toBe(false);
    expect(list.allows('xn--bcher-kva.example', false, 443)).toBe(true);
  });

  it.each([
    ['https://example.com/x', 'is a URL; write the host alone: "example.com"'],
    ['10.0.0.0/8', 'is a range'],
    ['example.com/path', 'has a path'],
    ['*', 'has a * that is not at its start'],
    ['a.*.com', 'has a * that is not at its start'],
    ['*.1.2.3.4', 'has a * before an address'],
    ['example.com:0', 'its port is not a number from 1 to 65535'],
    ['example.com:99999', 'its port is not a number from 1 to 65535'],
    ['', 'it names no host'],
    ['user@example.com', 'has characters'],
    ['0x7f.1', 'an odd spelling of an address'],
    ['fe80::1%eth0', 'cannot be told apart'],
  ])('an entry %j is refused with its reason', (entry, why) => {
    expect(problemOfEntry(entry)).toContain(why);
    expect(() => new AllowList([entry])).toThrow(why);
  });

  it('a list of more than 1000 entries is refused', () => {
    const entries = Array.from({ length: 1001 }, (_, i) => `h${i}.test`);
    expect(() => new AllowList(entries)).toThrow('at most 1000');
    expect(() => new AllowList(entries.slice(1))).not.toThrow();
  });

  it.each(
    (
      '0.0.0.0 0.1.2.3 127.0.0.1 127.255.255.254 169.254.169.254 10.0.0.1 10.255.255.255 172.16.0.1 172.31.255.255 ' +
      '192.168.1.1 100.64.0.1 100.127.255.255 192.0.0.1 192.0.2.1 198.18.0.1 198.19.255.255 198.51.100.1 203.0.113.1 ' +
      '224.0.0.1 239.255.255.255 240.0.0.1 255.255.255.255 :: ::1 ::7f00:1 ::ffff:127.0.0.1 ::ffff:8.8.8.8 ' +
      '::ffff:0:127.0.0.1 64:ff9b::7f00:1 64:ff9b::8.8.8.8 64:ff9b:1::1 2002:7f00:1:: 2002:808:808::1 2001::1 ' +
      '2001:db8::1 2001:10::1 3fff::1 fe80::1 febf::1 fec0::1 fc00::1 fdff::1 ff02::1 100::1 4000::1 5f00::1 ' +
      'fe80::1%lo nonsense'
    ).split(' '),
  )('%s is not a public address', (address) => {
    expect(whyNotPublic(address)).toBeDefined();
  });

  it.each(
    (
      '1.1.1.1 8.8.8.8 9.255.255.255 11.0.0.1 100.63.255.255 100.128.0.1 126.255.255.255 128.0.0.1 169.253.0.1 ' +
      '172.15.255.255 172.32.0.1 192.167.1.1 192.169.1.1 198.17.1.1 198.20.0.1 223.255.255.255 2606:4700::1111 ' +
      '2001:4860:4860::8888 2a00::1 2003::1'
    ).split(' '),
  )('%s is a public address', (address) => {
    expect(whyNotPublic(address)).toBeUndefined();
  });

  it('the spellings of a host that mean the same become one', () => {
    const host = (text: string): unknown => (parseAuthority(text) as { host?: string }).host;
    expect(host('EXAMPLE.com.:80')).toBe('example.com');
    expect(host('[0:0:0:0:0:0:0:1]:80')).toBe('::1');
    expect(host('[::FFFF:7f00:1]:80')).toBe('::ffff:127.0.0.1');
  });
});
