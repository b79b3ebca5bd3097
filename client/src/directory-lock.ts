import { randomUUID } from 'node:crypto';
import { link, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { TollgateError } from './errors.js';

export interface DirectoryLock {
  release(): Promise<void>;
}

/** The process that holds a lock. A process id alone may be used again by another process. */
interface Owner {
  readonly host: string;
  readonly pid: number;
  /** When the process was started, where the system tells it. */
  readonly started: string;
  /** Distinguishes two locks of one process. */
  readonly token: string;
}

const released = 'released';
const numberOf = (name: string): number => Number(/^lock\.(\d+)$/.exec(name)?.[1] ?? 0);

/**
 * Locks a directory for this process. The lock of a process that was killed is taken over at once.
 *
 * Locks are numbered files, and the highest one counts. To take over from number n is to create n + 1, which one
 * process alone can. Numbers are not used again: a release keeps its file, and a new lock removes lower ones after it
 * was created. So a process that is late finds a higher number, and gives up.
 */
export async function lockDirectory(directory: string): Promise<DirectoryLock> {
  const path = (number: number) => join(directory, `lock.${number}`);
  const highest = await highestOf(directory);
  await refuseIfHeld(path(highest), highest);
  const owner: Owner = { host: hostname(), pid: process.pid, started: await startOf(process.pid), token: randomUUID() };
  const temporary = join(directory, `lock.${owner.token}.tmp`);
  const own = highest + 1;
  try {
    await writeFile(temporary, JSON.stringify(owner), { mode: 0o600 });
    await link(temporary, path(own)).catch((error: NodeJS.ErrnoException) => {
      throw error.code === 'EEXIST' || error.code === 'ENOENT' ? inUse(directory, 'another process') : error;
    });
  } finally {
    await rm(temporary, { force: true });
  }
  if ((await highestOf(directory)) !== own) {
    await rm(path(own), { force: true });
    throw inUse(directory, 'another process');
  }
  for (const name of await readdir(directory))
    if (numberOf(name) > 0 && numberOf(name) < own) await rm(join(directory, name), { force: true });
  return {
    async release() {
      await writeFile(temporary, released, { mode: 0o600 });
      await rename(temporary, path(own));
    },
  };
}

async function highestOf(directory: string): Promise<number> {
  return Math.max(0, ...(await readdir(directory)).map(numberOf));
}

async function refuseIfHeld(path: string, number: number): Promise<void> {
  if (number === 0) return;
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') throw inUse(path, 'another process');
    throw error;
  });
  if (text === released) return;
  const { host, pid, started } = JSON.parse(text) as Owner;
  if (host !== hostname())
    throw inUse(path, `process ${pid} of host ${host}; if that process has ended, delete the file`);
  if (isAlive(pid) && (await startOf(pid)) === started) throw inUse(path, `process ${pid}`);
}

const inUse = (path: string, owner: string) =>
  new TollgateError('OUTBOX_LOCKED', `${path}: is in use by ${owner}; give each process a directory of its own`);

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // The process of another user.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** Names the time since the machine was started, on Linux. Empty elsewhere. */
export async function bootId(): Promise<string> {
  const text = await readFile('/proc/sys/kernel/random/boot_id', 'utf8').catch(() => '');
  return text.trim();
}

/** The boot of the machine and the start of the process, on Linux. Empty elsewhere. */
async function startOf(pid: number): Promise<string> {
  try {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
    // The name of the program may contain spaces and parentheses. The start is field 22.
    return `${await bootId()}/${stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]}`;
  } catch {
    return '';
  }
}
