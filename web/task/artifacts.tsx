/**
 * The files that a task kept. They were written by an agent: all can be saved, none is opened; only what is a picture by its own
 * bytes is shown, as one.
 */
import { useEffect, useState, type ReactNode } from 'react';
import type { Artifacts as Kept } from '../../src/contract/outputs.ts';
import { spellControls } from '../../src/report/text/plain.ts';
import { formatBytes } from '../../src/report/words.ts';
import { ask, request, runPath } from '../data/api.ts';
import { placed } from '../data/place.ts';
import type { RunAt } from '../film/run-at.ts';

export interface ArtifactsProps {
  at: RunAt;
  task: string;
  /** The attempt that kept them; undefined where none did by then. */
  attempt: number | undefined;
}

const PICTURE_BYTES_MAX = 8 * 1024 * 1024;
const PICTURES_MAX = 12;
const PICTURE_NAME = /\.(png|jpe?g|gif|webp)$/i;

export function Artifacts({ at, task, attempt }: ArtifactsProps): ReactNode {
  const [found, setFound] = useState<Kept['files'] | string>();
  const path = `${runPath(at.repository, at.run.id)}/tasks/${encodeURIComponent(task)}`;
  useEffect(() => {
    if (attempt === undefined) return undefined;
    const stop = new AbortController();
    ask<Kept>(`${path}/artifacts`, { query: { attempt }, signal: stop.signal }).then(
      ({ files }) => setFound(files),
      (error: unknown) => {
        if (!stop.signal.aborted) setFound(error instanceof Error ? error.message : String(error));
      },
    );
    return () => stop.abort();
  }, [path, attempt]);
  if (attempt === undefined || (Array.isArray(found) && found.length === 0))
    return (
      <div className="nothing">
        <b>It has kept no files.</b>
        <p>
          A task keeps those that its <code>artifacts</code> name, such as <code>report/**</code>, when an
          attempt ends.
        </p>
      </div>
    );
  if (typeof found === 'string')
    return (
      <div className="nothing" role="alert">
        <b>Its artifacts cannot be read.</b>
        <p>{found}</p>
      </div>
    );
  if (!found) return null;
  const pictures = found.filter(isPicture).slice(0, PICTURES_MAX);
  const addressOf = (file: string): string =>
    `${path}/artifact?${new URLSearchParams({ attempt: String(attempt), path: file }).toString()}`;
  return (
    <div className="scroll artifacts" tabIndex={0} role="region" aria-label="Artifacts">
      <ul>
        {found.map((file) => (
          <li key={file.path}>
            <a href={placed(addressOf(file.path))} download={file.path.split('/').at(-1)}>
              <code>{spellControls(file.path)}</code>{' '}
              <small className="quiet">{formatBytes(file.bytes)}</small>
              <span className="save">Save</span>
            </a>
            {pictures.includes(file) && <Picture address={addressOf(file.path)} name={file.path} />}
          </li>
        ))}
      </ul>
      <p className="cmd">
        = bosun artifacts --task {task} --attempt {attempt}
      </p>
    </div>
  );
}

function isPicture({ path, bytes }: Kept['files'][number]): boolean {
  return PICTURE_NAME.test(path) && bytes <= PICTURE_BYTES_MAX;
}

/** Its type is what its bytes begin with, whatever its name says. */
function Picture({ address, name }: { address: string; name: string }): ReactNode {
  const [source, setSource] = useState<string>();
  const [isNone, setNone] = useState(false);
  useEffect(() => {
    const stop = new AbortController();
    readPicture(address, stop.signal).then(
      (found) => (found === undefined ? setNone(true) : setSource(found)),
      () => {
        if (!stop.signal.aborted) setNone(true);
      },
    );
    return () => stop.abort();
  }, [address]);
  if (isNone) return <p className="quiet">It cannot be shown as a picture.</p>;
  return source === undefined ? null : (
    <img src={source} alt={spellControls(name)} onError={() => setNone(true)} />
  );
}

async function readPicture(address: string, signal: AbortSignal): Promise<string | undefined> {
  const bytes = await (await request(address, { signal })).bytes();
  const type = typeOf(bytes);
  if (type === undefined) return undefined;
  const reader = new FileReader();
  const read = new Promise<void>((resolve) => (reader.onloadend = () => resolve()));
  reader.readAsDataURL(new Blob([bytes], { type }));
  await read;
  return reader.result as string;
}

function typeOf(bytes: Uint8Array): string | undefined {
  const begins = (text: string, at = 0): boolean =>
    [...text].every((letter, n) => bytes[at + n] === letter.charCodeAt(0));
  if (begins('\x89PNG\r\n\x1a\n')) return 'image/png';
  if (begins('\xff\xd8\xff')) return 'image/jpeg';
  if (begins('GIF87a') || begins('GIF89a')) return 'image/gif';
  return begins('RIFF') && begins('WEBP', 8) ? 'image/webp' : undefined;
}
