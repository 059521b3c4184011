/**
 * Writes the profile that sandbox-exec of macOS takes, from a fence. Only text: it reads no file and starts nothing.
 *
 * UNTESTED on macOS: written from the language's documentation. What its rules rest on:
 * - the last rule that matches decides, so what is denied again stands at the end;
 * - rules are about paths as the kernel resolves them: all given here must be real paths;
 * - a rule does not follow a file that is moved, so nothing above a kept or masked entry may be moved;
 * - a profile cannot be changed once it holds: what is grantable stays read-only.
 */
import path from 'node:path';
import type { Fence } from '../../system/process/fence.ts';

/** What programs load and read to start at all. Nothing of /Users, and no volume by its other name. */
const SYSTEM = [
  '/usr',
  '/bin',
  '/sbin',
  '/opt',
  '/System/Library',
  '/System/Cryptexes',
  '/System/Volumes/Preboot/Cryptexes',
  '/Library/Apple',
  '/Library/Developer',
  '/Library/Frameworks',
  '/Applications/Xcode.app',
  '/private/etc/ssl',
  '/private/var/db/dyld',
  '/private/var/db/timezone',
  '/private/var/select',
];
const SYSTEM_FILES = [
  '/',
  '/private/etc/group',
  '/private/etc/hosts',
  '/private/etc/localtime',
  '/private/etc/passwd',
  '/private/etc/protocols',
  '/private/etc/services',
  '/private/etc/shells',
  '/dev/null',
  '/dev/zero',
  '/dev/random',
  '/dev/urandom',
  '/dev/dtracehelper',
  '/dev/autofs_nowait',
];
const SYSTEM_LINKS = ['/etc', '/tmp', '/var'];
const DEVICES_WRITTEN = ['/dev/null', '/dev/zero', '/dev/dtracehelper'];
/** Who the user is, what certificates are trusted, where logs go: asked by almost every program. */
const MACH_SERVICES = [
  'com.apple.bsd.dirhelper',
  'com.apple.logd',
  'com.apple.system.logger',
  'com.apple.system.notification_center',
  'com.apple.system.opendirectoryd.libinfo',
  'com.apple.system.opendirectoryd.membership',
  'com.apple.trustd.agent',
];

export interface ProfileOptions {
  /** The command's own home and temporary directory. */
  scratch?: string[];
  /** The port of loopback where the proxy to allowed hosts listens, besides its socket. */
  proxyPort?: number;
}

/** All paths are absolute and real, but for those of the fence that are relative to the workspace. */
export function profileOf(fence: Fence, workspace: string, options: ProfileOptions = {}): string {
  const { scratch = [], proxyPort } = options;
  const inside = (name: string): string => path.posix.join(workspace, name).replace(/(?<=.)\/$/, '');
  const [write, keep, mask] = [fence.write, fence.keep, [...fence.mask, ...(fence.empty ?? [])]].map(
    (names) => names.map(inside),
  );
  const written = [...write!, ...fence.own, ...scratch];
  const sockets = fence.sockets === undefined ? [] : [fence.sockets];
  const read = [workspace, ...fence.read, ...fence.own, ...scratch, ...sockets];
  const protectedPaths = [...keep!, ...mask!];
  return [
    '(version 1)',
    '(deny default)',
    '(allow process-exec* process-fork)',
    '(allow process-info* signal (target same-sandbox))',
    '(allow sysctl-read)',
    rule('allow mach-lookup', filters('global-name', MACH_SERVICES)),
    '(allow ipc-posix-sem ipc-posix-shm*)',
    rule('allow file-read-metadata', [
      ...filters('literal', SYSTEM_LINKS),
      ...filters('literal', [
        ...new Set([...SYSTEM, ...SYSTEM_FILES, ...read, ...written].flatMap(parentsOf)),
      ]),
    ]),
    rule('allow file-read* file-map-executable', [
      ...filters('literal', SYSTEM_FILES),
      ...filters('subpath', [...SYSTEM, ...read]),
    ]),
    rule('allow file-write-data', filters('literal', DEVICES_WRITTEN)),
    rule('allow file-write*', filters('subpath', written)),
    rule('deny file-write*', filters('subpath', protectedPaths)),
    rule('deny file-read* file-map-executable', filters('subpath', mask!)),
    rule('deny file-write-unlink', filters('literal', movedAway(protectedPaths, written))),
    ...network(fence, proxyPort),
  ]
    .filter((line) => line !== '')
    .join('\n');
}

/** Everything of the network is denied by default, loopback too: it is not the command's own here. */
function network({ sockets, egress }: Fence, proxyPort: number | undefined): string[] {
  if (sockets === undefined) return [];
  const proxy = path.posix.join(sockets, 'egress.sock');
  return [
    '(allow system-socket (socket-domain AF_UNIX))',
    `(allow network-outbound (remote unix-socket (subpath ${quoted(sockets)})))`,
    egress ? '' : `(deny network-outbound (remote unix-socket (path-literal ${quoted(proxy)})))`,
    egress && proxyPort !== undefined ? `(allow network-outbound (remote ip "localhost:${proxyPort}"))` : '',
  ];
}

/** A rule without a filter would be about everything: it is left out. */
function rule(head: string, ofPaths: string[]): string {
  return ofPaths.length === 0 ? '' : `(${head}\n  ${ofPaths.join('\n  ')})`;
}

function filters(kind: 'literal' | 'subpath' | 'global-name', values: readonly string[]): string[] {
  return values.map((value) => `(${kind} ${quoted(value)})`);
}

/** Only two characters mean something inside a string; no path has a zero byte. */
function quoted(value: string): string {
  if (value.includes('\0')) throw new TypeError('a zero byte in a path');
  return `"${value.replaceAll(/["\\]/g, '\\$&')}"`;
}

function parentsOf(name: string): string[] {
  const parent = path.posix.dirname(name);
  return parent === name ? [] : [...parentsOf(parent), parent];
}

/** The directories that may be written and whose move would take a protected entry to where no rule is. */
function movedAway(protectedPaths: string[], written: string[]): string[] {
  const isBelow = (name: string, top: string): boolean =>
    name === top || name.startsWith(top === '/' ? top : `${top}/`);
  const parents = protectedPaths.flatMap(parentsOf);
  return [...new Set(parents)].filter((parent) => written.some((top) => isBelow(parent, top)));
}
