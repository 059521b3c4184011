/**
 * What differs between two runs of the same thing, taken out of a text: ids, times, hashes, temporary names. Too much
 * is better than too little here: what is left must be the same on another machine and on another day. Knows nothing
 * of requests or events.
 */

/** Numbers ids in the order in which they appear, so that equal ones stay equal and others stay different. */
export type Ids = Map<string, number>;

const DAY = '(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*';
const MONTH = '(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*';
const CLOCK = String.raw`\d{1,2}:\d\d(?::\d\d(?:[.,]\d+)?)?(?: ?[AP]M)?`;
const ZONE = String.raw`(?: ?(?:Z\b|UTC|GMT|[+-]\d\d:?\d\d))?`;

/**
 * Where workspaces and attempts lie, with the directories before them; and their names alone, as some agents put them
 * into names of their own.
 */
const PLACES: [RegExp, string][] = [
  [/\/bosun\/sandbox\/workspaces\/agent-[\w.@-]{0,150}?-\d{8}T\d{9}Z/g, '<workspace>'],
  [/(?<![\w-])[\w-]{0,300}?agent-[\w.@-]{0,150}?-\d{8}t\d{9}z/gi, '<workspace>'],
  [/(?<![\w.-])\/bosun\/workspace(?![\w.-])/g, '<workspace>'],
  [/\/bosun\/sandbox\/(attempts|bases|layers|s)\/[\w.@-]+/g, '<bosun>/$1'],
];

/** In this order: what stands first may hold what comes later. None looks far: texts can be megabytes without a gap. */
const CHANCE: [RegExp, string][] = [
  // Lists of files: whose they are, how many links there are, and how wide the columns; the size of a file says something.
  [/^(d[-rwxsStT]{9})[.+@]? +\d+ +\S+ +\S+ +\d+/gm, '$1 <owner>'],
  [/^([-lbcps][-rwxsStT]{9})[.+@]? +\d+ +\S+ +\S+ +(\d+)/gm, '$1 <owner> $2'],
  [/\btotal \d+$/gm, 'total <blocks>'],
  [/(?:\/private)?(?:\/var)?\/tmp\/[^\s"'`<>|:,;()/\\]+/g, '/tmp/<temp>'],
  [/\/var\/folders\/\w+\/\w+\/T\/[^\s"'`<>|:,;()/\\]+/g, '/tmp/<temp>'],
  [/(?<![\w.>-])(?:\/home\/[\w.-]+|\/Users\/[\w.-]+|\/root)(?![\w.-])/g, '<home>'],
  // Times and dates, as programs print them.
  [
    new RegExp(String.raw`\b\d{4}-\d\d-\d\d(?:[T ]${CLOCK}${ZONE})?(?![\w-])|\b\d{8}T\d{6,9}Z\b`, 'g'),
    '<time>',
  ],
  [
    new RegExp(
      String.raw`\b(?:${DAY},? )?(?:${MONTH} +\d{1,2}|\d{1,2} ${MONTH}(?= \d{4}))(?:,? +(?:${CLOCK}${ZONE}(?:,? \d{4})?|\d{4}(?:,? ${CLOCK})?))?${ZONE}(?!\w)`,
      'g',
    ),
    '<time>',
  ],
  [/\b\d{1,2}\/\d{1,2}\/\d{4}\b/g, '<time>'],
  [new RegExp(String.raw`(?<![\w:.])${CLOCK}${ZONE}(?![\w:])`, 'g'), '<time>'],
  [/\b\d+m\d+(?:\.\d+)?s\b/g, '<duration>'],
  [/(?<![\w.])\d+(?:\.\d+)?(?:e-\d+)? ?(?:ms|µs|us|ns|s|secs?|seconds?|mins?|minutes?)\b/g, '<duration>'],
  [
    /\b((?:duration|elapsed|wall_time)(?:_?(?:ms|seconds))?\\?["']?\s{0,16}[:=]?\s{0,16})\d+(?:\.\d+)?(?:e-?\d+)?/gi,
    '$1<duration>',
  ],
  // What the machine gives out.
  [/(127\.0\.0\.1|localhost|\[::1\]):\d+/g, '$1:<port>'],
  [/\b(p?pid|pgid|process group|process id)(\W{1,3}(?:pgid\W{1,3})?)\d+/gi, '$1$2<pid>'],
  [/\b(Linux|Darwin|Windows(?: NT)?) \d+\.\d[\w.+-]*/g, '$1 <version>'],
  [/\bChunk ID: [0-9a-f]+/g, 'Chunk ID: <id>'],
  [/(\bchunk_id\\?":\s*\\?")[0-9a-f]+/g, '$1<id>'],
];

const UUID = '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}';
/** Ids as providers and agents make them: a short word, then chance with a digit in it; or a word with a time in it. */
const ID = new RegExp(
  String.raw`\b(?:[a-z]{2,9}_)?${UUID}(?![\w-])|\b(?:toolu|srvtoolu|call|msg|resp|req|fc|fco|rs|ws|ctc|ctco|ses|prt|per|thread|chatcmpl|cmpl|gen|item|evt|container|file|session)[_-](?=[A-Za-z_-]{0,64}\d)[\w-]{8,}|\b\w+_\d{13}_\w+`,
  'gi',
);
/** Commits, short or long; a long number may well be one, or a time. */
const HASH = /(?<![\w/.-])[0-9a-f]{7,64}(?![\w-])|(?<=[-/.])(?=[a-f]*\d)[0-9a-f]{40}(?![\w-])/g;

/** A text without chance; between its texts stand the ids, which are numbered only once it is known where. */
interface Parts {
  texts: string[];
  ids: string[];
}

/** Long texts that came before: a conversation repeats all of it with each request. */
export type Memo = Map<string, Parts>;
const MEMO_CHARS_MIN = 200;
const MEMO_ENTRIES_MAX = 5000;

export function normalText(text: string, ids: Ids, memo?: Memo): string {
  const known = memo?.get(text);
  const parts = known ?? partsOf(text);
  if (memo && !known && text.length >= MEMO_CHARS_MIN) {
    if (memo.size >= MEMO_ENTRIES_MAX) memo.clear();
    memo.set(text, parts);
  }
  return parts.texts
    .map((part, n) => (n === 0 ? part : `<id ${numberOf(parts.ids[n - 1]!, ids)}>${part}`))
    .join('');
}

function partsOf(text: string): Parts {
  let normal = text.replace(/(?<!\\)\\+[nrt]/g, '\n'); // texts inside JSON inside JSON
  if (/bosun\/|agent-/i.test(normal))
    for (const [pattern, by] of PLACES) normal = replacePlaces(normal, pattern, by);
  for (const [pattern, by] of CHANCE) normal = normal.replace(pattern, by);
  return { texts: normal.split(ID).map((part) => part.replace(HASH, '<hash>')), ids: normal.match(ID) ?? [] };
}

const PLACE_CHARS_MAX = 300;

/** Looks back from what was found: to look ahead from each slash takes hundreds of times as long. */
function replacePlaces(text: string, pattern: RegExp, by: string): string {
  if (!pattern.source.startsWith('\\/')) return text.replace(pattern, by);
  let [result, end] = ['', 0];
  for (const match of text.matchAll(pattern)) {
    const least = Math.max(end, match.index - PLACE_CHARS_MAX - 1);
    let from = match.index;
    for (let at = from - 1; at >= least && !/[\s"'`<>|:]/.test(text[at]!); at -= 1)
      if (text[at] === '/') from = at;
    result += text.slice(end, from) + by.replace('$1', match[1] ?? '');
    end = match.index + match[0].length;
  }
  return result + text.slice(end);
}

function numberOf(id: string, ids: Ids): number {
  const known = ids.get(id);
  if (known !== undefined) return known;
  ids.set(id, ids.size + 1);
  return ids.size;
}
