/** What kind of bytes passed: text or not, a stream of events or not. */

const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Undefined where the bytes are no UTF-8. */
export function asText(bytes: Buffer): string | undefined {
  try {
    return strict.decode(bytes);
  } catch {
    return undefined;
  }
}

export function isStream(headers: Record<string, string>): boolean {
  return /^text\/event-stream\b/i.test(headers['content-type'] ?? '');
}

export function holdsJson(headers: Record<string, string>): boolean {
  return isStream(headers) || /\bjson\b/i.test(headers['content-type'] ?? '');
}
