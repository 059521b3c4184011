/**
 * The files that a task kept. They were written by an agent: all can be saved, none is opened; only what is a picture by its own
 * bytes is shown, as one.
 */
import { useEffect, useState, type ReactNode } from 'react';
import type { Artifacts as Kept } from '../../src/contract/outputs.ts';
import { spellControls } from '../../src/report/text/plain.ts';
import { formatBytes } from '../../src/report/words.ts';
import { ask, pathPart, request, runPath } from '../data/api.ts';
import { placed } from '../data/place.ts';
import type { RunAt } from '../film/run-at.ts';
import { pictureIn } from './picture.ts';

export interface ArtifactsProps {
  at: RunAt;
  task: string;
  /** The attempt that kept them; undefined where none did by then. */
  attempt: number | undefined;
}

const PICTURE_BYTES_MAX = 8 * 1024 * 1024;
const PICTURES_MAX = 12;
const PIXELS_MAX = 24_000_000;
const PICTURE_NAME = /\.(png|jpe?g|gif|webp)$/i;

export function Artifacts({ at, task, attempt }: ArtifactsProps): ReactNode {
  const [answer, setAnswer] = useState<{ attempt: number; files: Kept['files'] | string }>();
  const found = answer?.attempt === attempt ? answer?.files : undefined;
  const path = `${runPath(at.repository, at.run.id)}/tasks/${pathPart(task)}`;
  useEffect(() => {
    if (attempt === undefined) return undefined;
    const stop = new AbortController();
    ask<Kept>(`${path}/artifacts`, { query: { attempt }, signal: stop.signal }).then(
      ({ files }) => setAnswer({ attempt, files }),
      (error: unknown) => {
        const files = error instanceof Error ? error.message : String(error);
        if (!stop.signal.aborted) setAnswer({ attempt, files });
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
        = bosun artifacts {at.run.id} --task {task} --attempt {attempt}
      </p>
    </div>
  );
}

function isPicture({ path, bytes }: Kept['files'][number]): boolean {
  return PICTURE_NAME.test(path) && bytes <= PICTURE_BYTES_MAX;
}

/** Its type is what its bytes begin with, whatever its name says. */
function Picture({ address, name }: { address: string; name: string }): ReactNode {
  const [shown, setShown] = useState<Shown>();
  useEffect(() => {
    const stop = new AbortController();
    setShown(undefined);
    readPicture(address, stop.signal).then(setShown, () => {
      if (!stop.signal.aborted) setShown(NO_PICTURE);
    });
    return () => stop.abort();
  }, [address]);
  if (!shown) return null;
  if ('why' in shown) return <p className="quiet">{shown.why}</p>;
  return (
    <img
      src={shown.source}
      alt={spellControls(name)}
      loading="lazy"
      decoding="async"
      onError={() => setShown(NO_PICTURE)}
    />
  );
}

type Shown = { source: string } | { why: string };

const NO_PICTURE: Shown = { why: 'It cannot be shown as a picture.' };

async function readPicture(address: string, signal: AbortSignal): Promise<Shown> {
  const bytes = await (await request(address, { signal })).bytes();
  const found = pictureIn(bytes);
  if (!found) return NO_PICTURE;
  const { type, width, height } = found;
  // A few kilobytes of an agent can be gigabytes once they are unpacked.
  if (width * height > PIXELS_MAX)
    return { why: `It is too large to be shown: ${width} × ${height} pixels.` };
  const reader = new FileReader();
  const read = new Promise<void>((resolve) => (reader.onloadend = () => resolve()));
  reader.readAsDataURL(new Blob([bytes], { type }));
  await read;
  return { source: reader.result as string };
}
