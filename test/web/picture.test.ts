/** The size of a picture is known before it is unpacked. */
import { expect, it } from 'vitest';
import { pictureIn } from '../../web/task/picture.ts';

const bytes = (...parts: (string | number[])[]): Uint8Array =>
  Uint8Array.from(
    parts.flatMap((part) =>
      typeof part === 'string' ? [...part].map((letter) => letter.charCodeAt(0)) : part,
    ),
  );
const zeros = (count: number): number[] => Array.from({ length: count }, () => 0);

it.each([
  ['png', bytes('\x89PNG\r\n\x1a\n', zeros(8), [0, 1, 0, 0], [0, 0, 2, 0]), 65_536, 512],
  ['gif', bytes('GIF89a', [0x40, 0x01], [0x10, 0x00], zeros(9)), 320, 16],
  [
    'jpeg',
    bytes([0xff, 0xd8, 0xff, 0xe0, 0, 4, 9, 9], [0xff, 0xc2, 0, 17, 8, 0x12, 0x34, 0x56, 0x78], zeros(9)),
    0x5678,
    0x1234,
  ],
  [
    'webp',
    bytes('RIFF', zeros(4), 'WEBPVP8X', zeros(8), [0xff, 0x0f, 0], [0x1f, 0, 1], zeros(2)),
    4096,
    65_568,
  ],
  ['webp', bytes('RIFF', zeros(4), 'WEBPVP8 ', zeros(10), [0x80, 0x42], [0x20, 0x01]), 640, 288],
  ['webp', bytes('RIFF', zeros(4), 'WEBPVP8L', zeros(5), [0xff, 0xc1, 0x03, 0x00], zeros(9)), 512, 16],
])('reads how large a %s becomes', (type, head, width, height) => {
  expect(pictureIn(head)).toEqual({ type: `image/${type}`, width, height });
});

it('takes for no picture what is none, or ends too soon', () => {
  for (const none of [
    '',
    '<svg width="1">',
    '\x89PNG\r\n\x1a\n',
    'GIF89a',
    '\xff\xd8\xff',
    'RIFFxxxxWEBPVP8X',
  ])
    expect(pictureIn(bytes(none))).toBeUndefined();
});
