/**
 * Large values of events are kept beside them, each once: the event carries a reference. `slim` makes the event as it
 * is recorded, `whole` the event as it was. Knows nothing of where values are kept.
 */
import type { Event, EventOf, GivenFile, ValueRef } from '../contract/event.ts';
import type { LongText } from '../contract/summary.ts';
import type { Json } from '../contract/workflow.ts';

/** A value of up to this size stays in its event. */
const INLINE_BYTES_MAX = 4096;

/** A value to be kept: its JSON text under its hash. */
export interface StoredValue {
  hash: string;
  text: string;
}

export function slim(event: Event, keep: (value: StoredValue) => void): Event {
  switch (event.type) {
    case 'attempt.finished': {
      const storyRef = event.story !== undefined && refOf(event.story, keep);
      if (!storyRef) return slimOutput(event, keep);
      const { story: _, ...rest } = event;
      return { ...slimOutput(rest, keep), storyRef };
    }
    case 'attempt.gave':
    case 'task.finished':
      return slimOutput(event, keep);
    case 'access.requested': {
      const patchRef = event.patch !== undefined && refOf(event.patch, keep);
      if (!patchRef) return event;
      const { patch: _, ...rest } = event;
      return { ...rest, patchRef };
    }
    case 'message.sent': {
      const bodyRef = event.body !== undefined && refOf(event.body, keep);
      if (!bodyRef) return event;
      const { body: _, ...rest } = event;
      return { ...rest, bodyRef };
    }
    case 'publication.made': {
      const valueRef = event.value !== undefined && refOf(event.value, keep);
      if (!valueRef) return event;
      const { value: _, ...rest } = event;
      return { ...rest, valueRef };
    }
    case 'attempt.started': {
      const prompt = refOf(event.prompt, keep);
      const env = event.env && refOf(event.env, keep);
      const { env: inline, files, ...rest } = event;
      return {
        ...rest,
        ...(files && { files: files.map((file) => slimText(file, keep)) }),
        ...(prompt && { prompt: '', promptRef: prompt }),
        ...(env ? { envRef: env } : inline && { env: inline }),
      };
    }
    case 'task.summarizing':
      return { ...event, texts: event.texts.map((each) => slimText(each, keep)) };
    default:
      return event;
  }
}

/** References to values of more than `bytesMax` stay. */
export function whole(event: Event, read: (ref: ValueRef) => Json, bytesMax = Infinity): Event {
  switch (event.type) {
    case 'attempt.finished': {
      const { storyRef, ...rest } = event;
      if (!storyRef || storyRef.bytes > bytesMax) return wholeOutput(event, read, bytesMax);
      return { ...wholeOutput(rest, read, bytesMax), story: read(storyRef) as string };
    }
    case 'attempt.gave':
    case 'task.finished':
      return wholeOutput(event, read, bytesMax);
    case 'access.requested': {
      const { patchRef, ...rest } = event;
      if (!patchRef || patchRef.bytes > bytesMax) return event;
      return { ...rest, patch: read(patchRef) as string };
    }
    case 'message.sent': {
      if (!event.bodyRef || event.bodyRef.bytes > bytesMax) return event;
      const { bodyRef, ...rest } = event;
      return { ...rest, body: read(bodyRef) };
    }
    case 'publication.made': {
      const { valueRef, ...rest } = event;
      if (!valueRef || valueRef.bytes > bytesMax) return event;
      return { ...rest, value: read(valueRef) };
    }
    case 'attempt.started': {
      // A resume asks for thousands that have none.
      if (!event.promptRef && !event.envRef && !event.files) return event;
      const { promptRef, envRef, ...rest } = event;
      const files = rest.files?.map((file) => wholeText(file, read, bytesMax));
      if (files) rest.files = files;
      if (!promptRef && !envRef) return files ? { ...event, files } : event;
      const hasPrompt = promptRef && promptRef.bytes <= bytesMax;
      const hasEnv = envRef && envRef.bytes <= bytesMax;
      return {
        ...rest,
        ...(hasPrompt ? { prompt: read(promptRef) as string } : promptRef && { promptRef }),
        ...(hasEnv ? { env: read(envRef) as Record<string, string> } : envRef && { envRef }),
      };
    }
    case 'task.summarizing':
      return { ...event, texts: event.texts.map((each) => wholeText(each, read, bytesMax)) };
    default:
      return event;
  }
}

type WithOutput = EventOf<'attempt.finished' | 'attempt.gave' | 'task.finished'>;

function slimOutput<T extends WithOutput>(event: T, keep: (value: StoredValue) => void): T {
  const ref = event.output !== undefined && refOf(event.output, keep);
  if (!ref) return event;
  const { output: _, ...rest } = event;
  return { ...rest, outputRef: ref } as T;
}

function wholeOutput<T extends WithOutput>(event: T, read: (ref: ValueRef) => Json, bytesMax: number): T {
  if (!event.outputRef || event.outputRef.bytes > bytesMax) return event;
  const { outputRef, ...rest } = event;
  return { ...rest, output: read(outputRef) } as T;
}

function slimText<T extends GivenFile | LongText>(given: T, keep: (value: StoredValue) => void): T {
  const { text, ...rest } = given;
  const textRef = text !== undefined && refOf(text, keep);
  return textRef ? ({ ...rest, textRef } as T) : given;
}

function wholeText<T extends GivenFile | LongText>(
  given: T,
  read: (ref: ValueRef) => Json,
  bytesMax: number,
): T {
  const { textRef, ...rest } = given;
  return textRef && textRef.bytes <= bytesMax ? ({ ...rest, text: read(textRef) as string } as T) : given;
}

function refOf(value: Json, keep: (value: StoredValue) => void): ValueRef | undefined {
  if (typeof value !== 'object' && typeof value !== 'string') return undefined;
  const text = JSON.stringify(value);
  if (text.length <= INLINE_BYTES_MAX / 4) return undefined; // whatever its characters
  const bytes = Buffer.byteLength(text);
  if (bytes <= INLINE_BYTES_MAX) return undefined;
  // Only who writes needs it, and to load it takes a tenth of the time of a short command.
  const { createHash } = process.getBuiltinModule('node:crypto');
  const hash = createHash('sha256').update(text).digest('hex');
  keep({ hash, text });
  return { hash, bytes };
}
