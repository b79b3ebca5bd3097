import { spawnSync } from 'node:child_process';
import { appendFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { type OutboxEntry, TollgateError } from '@tollgate/client';
import { fileOutbox } from '@tollgate/client/outbox';

let directory: string;
const opened: { close(): Promise<void> }[] = [];
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'outbox-'));
});
afterEach(async () => {
  for (const outbox of opened.splice(0)) await outbox.close().catch(() => undefined);
  rmSync(directory, { recursive: true, force: true });
});

function outboxIn(path = directory) {
  const outbox = fileOutbox(path);
  opened.push(outbox);
  return outbox;
}

const entry = (id: string, tokens = 1): OutboxEntry => ({
  id,
  startedAtMs: 1,
  mutation: { kind: 'settle', input: { admissionId: id, inputTokens: tokens } },
});
const journal = () => readFileSync(join(directory, 'journal.jsonl'), 'utf8');
const codeOf = (work: Promise<unknown>) =>
  work.then(
    () => 'none',
    (error: TollgateError) => error.code,
  );

describe('a file outbox', () => {
  it('returns what a process that was killed has left, with the last state of each entry', async () => {
    const outbox = outboxIn();
    expect(await outbox.open()).toEqual([]);
    await Promise.all(['a', 'b', 'c'].map((id) => outbox.put(entry(id))));
    await outbox.put(entry('b', 2));
    await outbox.remove('a');
    // The lock of this process would be refused, so the process is said to have ended.
    rmSync(join(directory, 'lock.1'));
    expect(await outboxIn().open()).toEqual([entry('b', 2), entry('c')]);
  });

  it('gives back a call that its process stored and did not make, unless the machine was restarted since', async () => {
    const running = (id: string) => ({ ...entry(id), isRunning: true as const });
    const cancelled = { id: 'stored', startedAtMs: 1, mutation: { kind: 'cancel', admissionId: 'stored' } };
    /** Opens the outbox as the next process does. */
    const next = async () => {
      for (const name of readdirSync(directory)) if (name.startsWith('lock')) rmSync(join(directory, name));
      const outbox = outboxIn();
      return { outbox, entries: await outbox.open() };
    };
    const { outbox } = await next();
    await Promise.all(['stored', 'made'].map((id) => outbox.put(running(id))));
    outbox.start?.('made');
    expect((await next()).entries).toEqual([cancelled, entry('made')]);
    // This process dies before it has sent anything.
    const third = await next();
    expect(third.entries).toEqual([cancelled, entry('made')]);
    await third.outbox.put(running('later'));
    const started = readFileSync(join(directory, 'started'), 'utf8');
    writeFileSync(join(directory, 'started'), started.replace(/^.*/, 'another boot'));
    expect((await next()).entries).toEqual([cancelled, entry('made'), entry('later')]);
  });

  it('keeps what was made when the journal is rewritten', async () => {
    const outbox = outboxIn();
    await outbox.open();
    await outbox.put({ ...entry('kept'), isRunning: true });
    outbox.start?.('kept');
    for (let i = 0; i < 12; i++) {
      const ids = Array.from({ length: 100 }, (_, j) => `${i}-${j}`);
      await Promise.all(ids.map((id) => outbox.put(entry(id))));
      await Promise.all(ids.map((id) => outbox.remove(id)));
    }
    await outbox.close();
    expect(await outboxIn().open()).toEqual([entry('kept')]);
  });

  it('has an entry on disk when `put` resolves, readable by its owner alone', async () => {
    const outbox = outboxIn();
    await outbox.open();
    await outbox.put(entry('a'));
    expect(journal()).toContain('"id":"a"');
    expect(statSync(join(directory, 'journal.jsonl')).mode & 0o777).toBe(0o600);
  });

  it('leaves out a line that was cut off when the process died', async () => {
    const outbox = outboxIn();
    await outbox.open();
    await outbox.put(entry('a'));
    await outbox.close();
    appendFileSync(join(directory, 'journal.jsonl'), '{"put":{"id":"b","star');
    const next = outboxIn();
    expect(await next.open()).toEqual([entry('a')]);
    await next.put(entry('c'));
    await next.close();
    expect(await outboxIn().open()).toEqual([entry('a'), entry('c')]);
  });

  it('rewrites the journal when most of it is dead, and loses nothing', async () => {
    const outbox = outboxIn();
    await outbox.open();
    await outbox.put(entry('kept'));
    for (let i = 0; i < 1100; i += 100) {
      const ids = Array.from({ length: 100 }, (_, j) => `${i + j}`);
      await Promise.all(ids.map((id) => outbox.put(entry(id))));
      await Promise.all(ids.map((id) => outbox.remove(id)));
    }
    expect(journal().split('\n').length).toBeLessThan(1200);
    await outbox.close();
    expect(await outboxIn().open()).toEqual([entry('kept')]);
    expect(readdirSync(directory).filter((name) => name.endsWith('.tmp'))).toEqual([]);
  });

  it('moves dead letters to a file of their own, with the reason', async () => {
    const outbox = outboxIn();
    await outbox.open();
    await outbox.put(entry('a'));
    await outbox.bury(entry('a'), new TollgateError('NOT_FOUND', 'admission not found'));
    await outbox.close();
    const letter = JSON.parse(readFileSync(join(directory, 'dead-letters.jsonl'), 'utf8')) as object;
    expect(letter).toEqual({ ...entry('a'), error: { code: 'NOT_FOUND', message: 'admission not found' } });
    expect(await outboxIn().open()).toEqual([]);
  });
});

describe('the lock of a directory', () => {
  it('is held by one outbox at a time, and free after it was closed', async () => {
    const first = outboxIn();
    await first.open();
    expect(await codeOf(outboxIn().open())).toBe('OUTBOX_LOCKED');
    await first.close();
    expect(await codeOf(outboxIn().open())).toBe('none');
  });

  it('is taken over from a process that has ended, but not from one of another machine', async () => {
    const { pid } = spawnSync('true');
    const owner = { host: hostname(), pid, started: '', token: 't' };
    writeFileSync(join(directory, 'lock.4'), JSON.stringify(owner));
    const outbox = outboxIn();
    await outbox.open();
    expect(readdirSync(directory).filter((name) => name.startsWith('lock'))).toEqual(['lock.5']);
    await outbox.close();
    writeFileSync(join(directory, 'lock.6'), JSON.stringify({ ...owner, host: 'elsewhere' }));
    await expect(outboxIn().open()).rejects.toThrow(/lock\.6: is in use by process \d+ of host elsewhere/);
  });

  it('is taken over from an ended process whose id another process has now', async () => {
    const owner = { host: hostname(), pid: process.pid, started: 'an earlier boot/1', token: 't' };
    writeFileSync(join(directory, 'lock.1'), JSON.stringify(owner));
    expect(await codeOf(outboxIn().open())).toBe('none');
  });

  it('goes to one of many that take it over at the same time', async () => {
    const { pid } = spawnSync('true');
    writeFileSync(join(directory, 'lock.1'), JSON.stringify({ host: hostname(), pid, started: '', token: 't' }));
    const codes = await Promise.all(Array.from({ length: 20 }, () => codeOf(outboxIn().open())));
    expect(codes.toSorted()).toEqual([...Array<string>(19).fill('OUTBOX_LOCKED'), 'none']);
  });
});
