/** How a reached limit is told: one sentence with what was allowed and what was seen. */
import type { Breach } from '../../system/process/fence.ts';

/** `buffersBytes` are those of pipes and sockets, named where it was they that made it too much: nobody sees them used. */
export function memoryBreach(seenBytes: number, allowedBytes: number, buffersBytes = 0): Breach {
  const isByBuffers = buffersBytes > 0 && seenBytes - buffersBytes <= allowedBytes;
  const part = isByBuffers
    ? `, of which ${megabytes(buffersBytes)} are what its pipes and sockets may hold`
    : '';
  return {
    limit: 'memory',
    message: `used ${megabytes(seenBytes)} of memory${part}; ${megabytes(allowedBytes)} are allowed`,
  };
}

export function processesBreach(seen: number, allowed: number): Breach {
  return { limit: 'processes', message: `ran ${seen} processes and threads; ${allowed} are allowed` };
}

export function diskBreach(seenBytes: number, allowedBytes: number): Breach {
  return {
    limit: 'disk',
    message: `wrote ${megabytes(seenBytes)} to disk; ${megabytes(allowedBytes)} are allowed`,
  };
}

export function entriesBreach(seen: number, allowed: number, allowedBytes: number): Breach {
  return {
    limit: 'disk',
    message: `made ${seen} files and directories; ${allowed} are allowed with ${megabytes(allowedBytes)} of disk`,
  };
}

export function depthBreach(): Breach {
  return {
    limit: 'disk',
    message: 'nested directories deeper than paths can name; what is in them cannot be measured',
  };
}

export function hiddenFilesBreach(): Breach {
  return {
    limit: 'disk',
    message:
      'left open files on their way over a socket, or deleted ones mapped, where their size cannot be measured because the repository is on a tmpfs; ' +
      'receive or unmap them at once, or keep the repository on a disk',
  };
}

export function closedBreach(): Breach {
  return {
    limit: 'disk',
    message:
      'kept a directory closed to its own user, such as with chmod 000; what is in it cannot be measured',
  };
}

export function freeSpaceBreach(usedBytes: number, freeBytes: number, floorBytes: number): Breach {
  return {
    limit: 'disk',
    message:
      `wrote ${megabytes(usedBytes)} and the disk has ${megabytes(freeBytes)} left; ` +
      `${megabytes(floorBytes)} must stay free`,
  };
}

export function freeFilesBreach(made: number, left: number, floor: number): Breach {
  return {
    limit: 'disk',
    message: `made at least ${made} files and directories and the disk has room for ${left} more; ${floor} must stay possible`,
  };
}

/** What cannot be measured may be anything. */
export function hiddenMemoryBreach(): Breach {
  return {
    limit: 'memory',
    message: 'ran a program that cannot be looked into; what it uses cannot be measured',
  };
}

export function hiddenProcessBreach(): Breach {
  return {
    limit: 'disk',
    message:
      'kept a program running that cannot be looked into, such as one that may be executed and not read; ' +
      'deleted files that it holds open cannot be measured',
  };
}

/** Rounded up above, so that what is past a limit never reads as equal to it. */
function megabytes(bytes: number): string {
  const mb = bytes / 1024 ** 2;
  return mb < 10 ? `${Math.ceil(mb * 10) / 10} MB` : `${Math.ceil(mb)} MB`;
}
