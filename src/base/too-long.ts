/** Whether words of a provider, or of an agent about one, say that a request is longer than its model takes. */
const WORDS =
  /context[_ -]?(length|window|limit)|prompt is too long|input is too long|input length and `?max_tokens`? exceed|maximum number of tokens|reduce the length of (the messages|your prompt)|request_too_large|too many (input )?tokens|ran out of room/i;

export function saysTooLong(words: string): boolean {
  return WORDS.test(words);
}
