import { closeSync, openSync, renameSync, writeSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { bootId } from './directory-lock.js';

/**
 * The ids of calls that were made, in a file beside the journal. A process may be killed between the sync of an entry
 * and its call. Without this file, such a call would count as one that used all of its estimate.
 *
 * Ids are written without a sync, because what a process has written outlives the process. It does not outlive the
 * machine, so after a restart of the machine every stored call counts as made.
 */
export class StartedCalls {
  readonly #path: string;
  #boot = '';
  #ids = new Set<string>();
  #file: number | undefined;

  constructor(directory: string) {
    this.#path = join(directory, 'started');
  }

  /** Tells of a call of an earlier process if it was surely not made. */
  async open(): Promise<(id: string) => boolean> {
    this.#boot = await bootId();
    const [boot, ...ids] = (await readFile(this.#path, 'utf8').catch(() => '')).split('\n');
    const made = new Set(ids);
    const isSameBoot = this.#boot !== '' && boot === this.#boot;
    return (id) => isSameBoot && !made.has(id);
  }

  /** Synchronous, so that nothing else happens between this and the call. */
  add(id: string): void {
    this.#ids.add(id);
    if (this.#file !== undefined) writeSync(this.#file, `${id}\n`);
  }

  /** Rewrites the file with the calls that are still needed. */
  keep(isNeeded: (id: string) => boolean): void {
    this.close();
    this.#ids = new Set([...this.#ids].filter(isNeeded));
    const next = openSync(`${this.#path}.tmp`, 'w', 0o600);
    writeSync(next, `${[this.#boot, ...this.#ids].join('\n')}\n`);
    renameSync(`${this.#path}.tmp`, this.#path);
    this.#file = next;
  }

  close(): void {
    if (this.#file !== undefined) closeSync(this.#file);
    this.#file = undefined;
  }
}
