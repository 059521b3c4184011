/** A filter for system calls (x86-64 alone) with which attacks can be tried without the launcher. */

const DENIED = [
  101, 135, 155, 161, 165, 166, 172, 248, 249, 250, 272, 298, 303, 304, 308, 310, 311, 312, 313, 321, 323,
  425, 426, 427, 428, 429, 430, 434, 438, 442,
];
const CLONE = 56;
const SOCKET = 41;
const SPACES = 0x7e020000;
const FAMILIES = [17, 40];
const ALLOW = 0x7fff0000;
const EPERM = 0x00050001;
const ENOSYS = 0x00050026;

export function stoppedCalls(): Buffer {
  const program: [number, number, number, number][] = [
    [0x20, 0, 0, 4],
    [0x15, 1, 0, 0xc000003e],
    [0x06, 0, 0, EPERM],
    [0x20, 0, 0, 0],
    [0x35, 0, 1, 0x40000000],
    [0x06, 0, 0, ENOSYS],
    [0x15, 0, 1, 435],
    [0x06, 0, 0, ENOSYS],
  ];
  for (const number of DENIED) program.push([0x15, 0, 1, number], [0x06, 0, 0, EPERM]);
  program.push([0x15, 0, 3, CLONE], [0x20, 0, 0, 16], [0x45, 0, 1, SPACES], [0x06, 0, 0, EPERM]);
  program.push([0x20, 0, 0, 0], [0x15, 0, 1 + 2 * FAMILIES.length, SOCKET], [0x20, 0, 0, 16]);
  for (const family of FAMILIES) program.push([0x15, 0, 1, family], [0x06, 0, 0, EPERM]);
  program.push([0x06, 0, 0, ALLOW]);
  const bytes = Buffer.alloc(program.length * 8);
  program.forEach(([code, yes, no, value], index) => {
    bytes.writeUInt16LE(code, index * 8);
    bytes.writeUInt8(yes, index * 8 + 2);
    bytes.writeUInt8(no, index * 8 + 3);
    bytes.writeUInt32LE(value, index * 8 + 4);
  });
  return bytes;
}
