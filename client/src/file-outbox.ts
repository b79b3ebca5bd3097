import { randomUUID } from 'node:crypto';
import { type FileHandle, mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type DirectoryLock, lockDirectory } from './directory-lock.js';
import { TollgateError } from './errors.js';
import type { Outbox, OutboxEntry } from './outbox.js';
import { StartedCalls } from './started-calls.js';

/** A line of the journal: an entry that is stored or replaced, or the id of one that is removed. */
type Line = { readonly put: OutboxEntry } | { readonly remove: string };

/** Rewriting the journal costs as much as its live entries, so it waits until most lines are dead. */
const minLinesToCompact = 1_000;
const ownerOnly = { directory: 0o700, file: 0o600 };

/**
 * An outbox in a directory, which one process at a time may use. An entry is on disk before its call is made. Entries
 * that were written at the same time share one `fdatasync`.
 */
export function fileOutbox(directory: string): Outbox {
  return new FileOutbox(directory);
}

class FileOutbox implements Outbox {
  readonly isDurable = true;
  readonly #directory: string;
  readonly #live = new Map<string, OutboxEntry>();
  readonly #started: StartedCalls;
  #lock: DirectoryLock | undefined;
  #journal: FileHandle | undefined;
  /** Lines of the journal, dead or alive. */
  #lines = 0;
  /** A write has failed, and may have left half a line. The journal is rewritten before anything is added. */
  #isTorn = false;
  /** Lines that wait for the write that runs. */
  #waiting: string[] = [];
  #write: Promise<void> | undefined;
  #running: Promise<void> | undefined;

  constructor(directory: string) {
    this.#directory = directory;
    this.#started = new StartedCalls(directory);
  }

  async open(): Promise<readonly OutboxEntry[]> {
    await mkdir(this.#directory, { recursive: true, mode: ownerOnly.directory });
    this.#lock = await lockDirectory(this.#directory);
    try {
      // Left by a process that was killed.
      for (const name of await readdir(this.#directory))
        if (name.endsWith('.tmp')) await rm(join(this.#directory, name), { force: true });
      for (const line of await this.#read()) {
        if ('put' in line) this.#live.set(line.put.id, line.put);
        else this.#live.delete(line.remove);
      }
      const isUnmade = await this.#started.open();
      for (const entry of this.#live.values()) if (entry.isRunning) this.#end(entry, isUnmade(entry.id));
      await this.#compact();
    } catch (error) {
      await this.#lock.release();
      throw error;
    }
    return [...this.#live.values()];
  }

  async put(entry: OutboxEntry): Promise<void> {
    const before = this.#live.get(entry.id);
    // At once, because the write may rewrite the journal from the live entries.
    this.#live.set(entry.id, entry);
    try {
      await this.#append({ put: entry });
    } catch (error) {
      if (before) this.#live.set(entry.id, before);
      else this.#live.delete(entry.id);
      throw error;
    }
  }

  start(id: string): void {
    this.#started.add(id);
  }

  async remove(id: string): Promise<void> {
    this.#live.delete(id);
    await this.#append({ remove: id });
  }

  async bury(entry: OutboxEntry, error: TollgateError): Promise<void> {
    const letter = { ...entry, error: { code: error.code, message: error.message } };
    const file = await open(join(this.#directory, 'dead-letters.jsonl'), 'a', ownerOnly.file);
    try {
      await file.appendFile(`${JSON.stringify(letter)}\n`);
      await file.datasync();
    } finally {
      await file.close();
    }
    await this.remove(entry.id);
  }

  async close(): Promise<void> {
    await this.#write?.catch(() => undefined);
    await this.#running?.catch(() => undefined);
    await this.#journal?.close();
    this.#journal = undefined;
    this.#started.close();
    await this.#lock?.release();
  }

  /** Ends a call whose process died. One that was not made costs nothing, any other one its estimate. */
  #end({ id, startedAtMs, mutation }: OutboxEntry, isUnmade: boolean): void {
    if (!isUnmade) this.#live.set(id, { id, startedAtMs, mutation });
    else if (mutation.kind === 'settle') {
      const admissionId = String(mutation.input.admissionId);
      this.#live.set(id, { id, startedAtMs, mutation: { kind: 'cancel', admissionId } });
    } else this.#live.delete(id);
  }

  get #path(): string {
    return join(this.#directory, 'journal.jsonl');
  }

  /** The complete lines. The last one is cut off if the process died while it wrote. */
  async #read(): Promise<readonly Line[]> {
    const text = await readFile(this.#path, 'utf8').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return '';
      throw error;
    });
    return text
      .slice(0, text.lastIndexOf('\n') + 1)
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Line);
  }

  /** Resolves once the line is on disk. */
  #append(line: Line): Promise<void> {
    if (!this.#journal) return Promise.reject(new TollgateError('OUTBOX_CLOSED', 'the outbox is not open'));
    this.#waiting.push(`${JSON.stringify(line)}\n`);
    this.#write ??= (this.#running ?? Promise.resolve())
      .catch(() => undefined)
      .then(() => {
        this.#running = this.#write;
        this.#write = undefined;
        return this.#flush();
      });
    return this.#write;
  }

  async #flush(): Promise<void> {
    const lines = this.#waiting;
    this.#waiting = [];
    if (this.#isTorn) return this.#compact();
    this.#isTorn = true;
    await this.#journal?.appendFile(lines.join(''));
    await this.#journal?.datasync();
    this.#isTorn = false;
    this.#lines += lines.length;
    if (this.#lines > minLinesToCompact && this.#lines > 4 * this.#live.size) await this.#compact();
  }

  /** Replaces the journal by one with the live entries alone. Either the old or the new one survives a crash. */
  async #compact(): Promise<void> {
    const next = join(this.#directory, `journal.${randomUUID()}.tmp`);
    const file = await open(next, 'a', ownerOnly.file);
    await file.appendFile([...this.#live.values()].map((put) => `${JSON.stringify({ put })}\n`).join(''));
    await file.datasync();
    await rename(next, this.#path);
    await syncDirectory(this.#directory);
    await this.#journal?.close();
    this.#journal = file;
    this.#lines = this.#live.size;
    this.#isTorn = false;
    this.#started.keep((id) => this.#live.has(id));
  }
}

/** Makes a renamed file survive a power failure. Windows cannot, and needs no such thing. */
async function syncDirectory(path: string): Promise<void> {
  if (process.platform === 'win32') return;
  const directory = await open(path, 'r');
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}
