/** Says which .gitattributes files of a result would keep git busy: it compares each of their rules with each path. */

/** Of all that an attempt adds to what the base has. */
const ATTRIBUTES_BYTES_MAX = 256 * 1024;
const RULES_MAX = 10_000;
const WILDCARDS_MAX = 5000;
const TOO_MANY = `git would take too long with so many rules: at most ${ATTRIBUTES_BYTES_MAX / 1024} KB, ${RULES_MAX} rules and ${WILDCARDS_MAX} wildcards more than before, in all`;

export interface AttributesFile {
  size: number;
  read(): string;
  /** What the base has in its place; nothing where it has no such file. */
  readBase(): Promise<string>;
}

/** What is wrong with each that goes too far, in the order given; such a one takes nothing from those after it. */
export async function attributesProblems<File extends AttributesFile>(
  files: readonly File[],
): Promise<Map<File, string>> {
  const problems = new Map<File, string>();
  // As a rule they are few, and the base need not be asked.
  const size = files.reduce((sum, file) => sum + file.size, 0);
  const isSmall = size <= ATTRIBUTES_BYTES_MAX;
  if (isSmall && isFine(burdenOf(files.flatMap((file) => file.read().split('\n'))))) return problems;
  let before = burdenOf([]);
  for (const file of files) {
    const base = await file.readBase();
    const isLarge = file.size > Buffer.byteLength(base) + ATTRIBUTES_BYTES_MAX;
    const more = burdenOf(isLarge ? [] : addedLines(file.read(), base));
    const together = {
      bytes: before.bytes + more.bytes,
      rules: before.rules + more.rules,
      wildcards: before.wildcards + more.wildcards,
    };
    if (isLarge || !isFine(together)) problems.set(file, TOO_MANY);
    else before = together;
  }
  return problems;
}

interface Burden {
  bytes: number;
  rules: number;
  wildcards: number;
}

function burdenOf(lines: readonly string[]): Burden {
  return {
    bytes: Buffer.byteLength(lines.join('\n')),
    rules: lines.filter((line) => line.trim() !== '').length,
    wildcards: lines.reduce((sum, line) => sum + (line.match(/[*?[]/g)?.length ?? 0), 0),
  };
}

function isFine({ bytes, rules, wildcards }: Burden): boolean {
  return bytes <= ATTRIBUTES_BYTES_MAX && rules <= RULES_MAX && wildcards <= WILDCARDS_MAX;
}

/** A line that the base has once is new the second time. */
function addedLines(text: string, base: string): string[] {
  const had = new Map<string, number>();
  for (const line of base.split('\n')) had.set(line, (had.get(line) ?? 0) + 1);
  return text.split('\n').filter((line) => {
    const left = had.get(line) ?? 0;
    had.set(line, left - 1);
    return left <= 0;
  });
}
