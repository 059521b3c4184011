/**
 * Answers that come as server-sent events: cut at the borders of events, and edited as the texts that their deltas
 * make up, since what is to change may be spread over many of them. Keeps every event; edits nothing on its own.
 */
import { edited, editFragments, type Editor } from './edits.ts';
import { isFields, type Fields } from '../../base/fields.ts';

/** Ends with what came after the last border, if anything. */
export function streamEvents(stream: string): string[] {
  return stream.split(/(?<=\r\n\r\n|\n\n|\r\r)/).filter((event) => event !== '');
}

/** A text inside an event that goes on in later events. */
interface Fragment {
  /** Of which text it is a part. */
  of: string;
  text: string;
  put(text: string): void;
}

interface Parsed {
  raw: string;
  line: string;
  data: unknown;
  fragments: Fragment[];
}

export function editEvents(events: string[], editor: Editor): string[] {
  const parsed = events.map(parse);
  const changed = new Set<Parsed>();
  for (const parts of Map.groupBy(
    parsed.flatMap((event) => event.fragments.map((fragment) => ({ event, fragment }))),
    ({ fragment }) => fragment.of,
  ).values()) {
    const texts = parts.map(({ fragment }) => fragment.text);
    const edits = editor(texts.join(''));
    if (edits.length === 0) continue;
    for (const [n, text] of editFragments(texts, edits).entries()) {
      if (text === texts[n]) continue;
      parts[n]!.fragment.put(text);
      changed.add(parts[n]!.event);
    }
  }
  return parsed.map((event) => {
    const { raw, line, data } = event;
    const text = changed.has(event) ? raw.replace(line, () => `data: ${JSON.stringify(data)}`) : raw;
    return edited(text, editor(text)); // what stands there as a whole, as in the event that sums up
  });
}

function parse(raw: string): Parsed {
  const line = /^data:[^\r\n]*/m.exec(raw)?.[0] ?? '';
  try {
    const data: unknown = JSON.parse(line.slice('data:'.length));
    return { raw, line, data, fragments: fragmentsOf(data) };
  } catch {
    return { raw, line, data: undefined, fragments: [] };
  }
}

/** In all dialects; what is none of them has no fragments. */
function fragmentsOf(data: unknown): Fragment[] {
  if (!isFields(data)) return [];
  if (isFields(data.delta)) return allOf(data.delta, `block ${String(data.index)}`); // Anthropic
  if (typeof data.delta === 'string')
    return allOf(data, `${String(data.type)} ${String(data.item_id)} ${String(data.content_index)}`, [
      'delta',
    ]); // responses
  const parts = [...list(data.choices), ...list(data.candidates)].flatMap((choice) => {
    const of = `choice ${String(choice.index)}`;
    if (isFields(choice.content)) return list(choice.content.parts).map((part) => [part, of] as const); // Gemini
    if (!isFields(choice.delta)) return [];
    const calls = list(choice.delta.tool_calls).map(
      (call) => [isFields(call.function) ? call.function : {}, `${of} call ${String(call.index)}`] as const,
    );
    return [[choice.delta, of] as const, ...calls];
  });
  return parts.flatMap(([fields, of]) => allOf(fields, of));
}

const TEXTS = ['partial_json', 'text', 'thinking', 'content', 'reasoning_content', 'arguments'];

function allOf(fields: Fields, of: string, names = TEXTS): Fragment[] {
  return names.flatMap((name) => {
    const text = fields[name];
    if (typeof text !== 'string') return [];
    return [{ of: `${of} ${name}`, text, put: (text: string) => void (fields[name] = text) }];
  });
}

function list(value: unknown): Fields[] {
  return Array.isArray(value) ? value.filter(isFields) : [];
}
