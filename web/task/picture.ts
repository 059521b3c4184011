/** What kind of picture some bytes are, and how large it becomes: by its own first bytes, whatever its name says. Pure. */

export interface PictureHead {
  type: string;
  width: number;
  height: number;
}

/** Undefined where it is none, or does not say how large it is. */
export function pictureIn(bytes: Uint8Array): PictureHead | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  try {
    return headIn(bytes, view);
  } catch (error) {
    if (error instanceof RangeError) return undefined; // it ends too soon
    throw error;
  }
}

function headIn(bytes: Uint8Array, view: DataView): PictureHead | undefined {
  const says = (text: string, at = 0): boolean =>
    [...text].every((letter, n) => bytes[at + n] === letter.charCodeAt(0));
  if (says('\x89PNG\r\n\x1a\n'))
    return { type: 'image/png', width: view.getUint32(16), height: view.getUint32(20) };
  if (says('GIF87a') || says('GIF89a'))
    return { type: 'image/gif', width: view.getUint16(6, true), height: view.getUint16(8, true) };
  if (says('\xff\xd8\xff')) return jpegHead(view);
  return says('RIFF') && says('WEBP', 8) ? webpHead(view, says) : undefined;
}

/** From segment to segment, until the one with its sizes. */
function jpegHead(view: DataView): PictureHead | undefined {
  for (let at = 2; view.getUint8(at) === 0xff;) {
    const marker = view.getUint8(at + 1);
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
    if (isFrame) return { type: 'image/jpeg', width: view.getUint16(at + 7), height: view.getUint16(at + 5) };
    at += marker === 0xff ? 1 : 2 + view.getUint16(at + 2);
  }
  return undefined;
}

function webpHead(view: DataView, says: (text: string, at: number) => boolean): PictureHead | undefined {
  const type = 'image/webp';
  const three = (at: number): number => view.getUint16(at, true) + view.getUint8(at + 2) * 65_536;
  if (says('VP8X', 12)) return { type, width: three(24) + 1, height: three(27) + 1 };
  if (says('VP8L', 12)) {
    const bits = view.getUint32(21, true);
    return { type, width: (bits & 0x3fff) + 1, height: ((bits >> 14) & 0x3fff) + 1 };
  }
  if (!says('VP8 ', 12)) return undefined;
  return { type, width: view.getUint16(26, true) & 0x3fff, height: view.getUint16(28, true) & 0x3fff };
}
