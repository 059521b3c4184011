/** Says which .gitattributes files of a result would keep git busy: it compares each of their rules with each path. */

/** Of all that an attempt adds to what the base has. */
const ATTRIBUTES_BYTES_MAX = 256 * 1024;
const WILDCARDS_MAX = 5000;
const TOO_MANY = `git would take too long with so many rules: at most ${ATTRIBUTES_BYTES_MAX / 1024} KB and ${WILDCARDS_MAX} wildcards more than before, in all`;

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
  if (size <= ATTRIBUTES_BYTES_MAX && wildcardsIn(files.map((file) => file.read())) <= WILDCARDS_MAX)
    return problems;
  let [bytes, wildcards] = [0, 0];
  for (const file of files) {
    const base = await file.readBase();
    const isLarge = file.size > Buffer.byteLength(base) + ATTRIBUTES_BYTES_MAX;
    const lines = isLarge ? [] : addedLines(file.read(), base);
    const [moreBytes, moreWildcards] = [Buffer.byteLength(lines.join('\n')), wildcardsIn(lines)];
    const isTooMuch =
      isLarge || bytes + moreBytes > ATTRIBUTES_BYTES_MAX || wildcards + moreWildcards > WILDCARDS_MAX;
    if (isTooMuch) problems.set(file, TOO_MANY);
    else [bytes, wildcards] = [bytes + moreBytes, wildcards + moreWildcards];
  }
  return problems;
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

function wildcardsIn(texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + (text.match(/[*?[]/g)?.length ?? 0), 0);
}
