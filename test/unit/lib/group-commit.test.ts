import fc from 'fast-check';
import { GatewayError } from '../../../src/lib/errors.js';
import { EventLoopScheduler } from '../../../src/lib/event-loop-scheduler.js';
import { type CommitResult, GroupCommit } from '../../../src/lib/group-commit.js';

/** Resolves after all callbacks have run that wait for no timer and no commit. */
const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

interface OpenCommit {
  readonly key: string;
  readonly group: readonly string[];
  /** Ends this commit. The named entries have to go into a later commit, all others are done. */
  end(...again: readonly string[]): Promise<void>;
  fail(error: Error): Promise<void>;
}

/** A group commit whose commits are ended by the test. The identity of an entry is the part before its colon. */
function manualGroups({ maxGroupSize = 3, maxWaiting = 100, shared = (_: string): string[] => [] } = {}) {
  const commits: OpenCommit[] = [];
  const settled: string[] = [];
  const groups = new GroupCommit<string, string>({
    maxGroupSize,
    maxWaiting,
    shared,
    identity: (entry) => entry.split(':')[0] as string,
    commit: (key, group) =>
      new Promise<readonly CommitResult<string>[]>((resolve, reject) => {
        commits.push({
          key,
          group: [...group],
          end(...again) {
            resolve(group.map((entry) => (again.includes(entry) ? 'again' : { done: `did ${entry}` })));
            return turn();
          },
          fail(error) {
            reject(error);
            return turn();
          },
        });
      }),
  });
  const submit = (key: string, ...entries: readonly string[]) =>
    entries.map((entry) => {
      const result = groups.submit(key, entry);
      result.then(
        () => settled.push(entry),
        () => settled.push(`${entry} failed`),
      );
      return result;
    });
  return { groups, commits, settled, submit, groupsSoFar: () => commits.map(({ group }) => group) };
}

describe('GroupCommit', () => {
  it('commits entries of one event-loop turn together, in order of arrival', async () => {
    const { submit, commits, groupsSoFar } = manualGroups();
    const results = submit('k', 'a', 'b', 'c');
    await turn();
    expect(groupsSoFar()).toEqual([['a', 'b', 'c']]);
    await commits[0]?.end();
    expect(await Promise.all(results)).toEqual(['did a', 'did b', 'did c']);
  });

  it('returns no result before the commit has ended', async () => {
    const { submit, commits, settled } = manualGroups();
    submit('k', 'a', 'b');
    await turn();
    expect(settled).toEqual([]);
    await commits[0]?.end();
    expect(settled).toEqual(['a', 'b']);
  });

  it('counts an item that several entries share once, and starts the next commit when it does not fit', async () => {
    // The letters of an entry are its shared items.
    const shared = (entry: string) => [...entry.replace(/\d/g, '')];
    const { submit, commits, groupsSoFar } = manualGroups({ maxGroupSize: 5, shared });
    submit('k', '1a', '2a', '3a', '4ab', '5abcd');
    await turn();
    expect(groupsSoFar()).toEqual([['1a', '2a', '3a']]);
    await commits[0]?.end();
    expect(groupsSoFar()[1]).toEqual(['4ab']);
    await commits[1]?.end();
    expect(groupsSoFar()[2]).toEqual(['5abcd']);
    await commits[2]?.end();
  });

  it('puts at most maxGroupSize entries into a commit, and the rest into the next ones', async () => {
    const { submit, commits, groupsSoFar } = manualGroups({ maxGroupSize: 2 });
    submit('k', 'a', 'b', 'c', 'd', 'e');
    for (let i = 0; i < 3; i++) {
      await turn();
      await commits[i]?.end();
    }
    expect(groupsSoFar()).toEqual([['a', 'b'], ['c', 'd'], ['e']]);
  });

  it('makes entries that arrive during a commit wait, and commits them together', async () => {
    const { groups, submit, commits, groupsSoFar, settled } = manualGroups();
    submit('k', 'a');
    await turn();
    submit('k', 'b');
    await turn();
    submit('k', 'c');
    await turn();
    expect(groupsSoFar()).toEqual([['a']]);
    expect(groups.waitingFor('k')).toBe(2);
    await commits[0]?.end();
    expect(groupsSoFar()).toEqual([['a'], ['b', 'c']]);
    expect(groups.waitingFor('k')).toBe(0);
    expect(settled).toEqual(['a']);
    await commits[1]?.end();
    expect(settled).toEqual(['a', 'b', 'c']);
  });

  it('never puts equal identities into one group, and commits them one after another in order', async () => {
    const { submit, commits, groupsSoFar } = manualGroups({ maxGroupSize: 5 });
    const results = submit('k', 'x:1', 'a', 'x:2', 'b', 'x:3');
    for (let i = 0; i < 3; i++) {
      await turn();
      await commits[i]?.end();
    }
    expect(groupsSoFar()).toEqual([['x:1', 'a', 'b'], ['x:2'], ['x:3']]);
    expect(await Promise.all(results)).toEqual(['did x:1', 'did a', 'did x:2', 'did b', 'did x:3']);
  });

  it('does not let an entry overtake a retried entry with the same identity', async () => {
    const { submit, commits, groupsSoFar } = manualGroups();
    submit('k', 'x:1', 'x:2');
    await turn();
    await commits[0]?.end('x:1');
    await commits[1]?.end();
    await commits[2]?.end();
    expect(groupsSoFar()).toEqual([['x:1'], ['x:1'], ['x:2']]);
  });

  it('commits retried entries first, in their order', async () => {
    const { submit, commits, groupsSoFar, settled } = manualGroups();
    submit('k', 'a', 'b', 'c', 'd', 'e');
    await turn();
    await commits[0]?.end('a', 'c');
    expect(settled).toEqual(['b']);
    await commits[1]?.end();
    await commits[2]?.end();
    expect(groupsSoFar()).toEqual([['a', 'b', 'c'], ['a', 'c', 'd'], ['e']]);
    expect(settled).toEqual(['b', 'a', 'c', 'd', 'e']);
  });

  it('rejects only the group of a commit that threw, with its error', async () => {
    const { submit, commits, settled } = manualGroups({ maxGroupSize: 2 });
    const [a, b, c] = submit('k', 'a', 'b', 'c');
    const [other] = submit('l', 'z');
    await turn();
    const error = new Error('the store is gone');
    await commits[0]?.fail(error);
    await expect(a).rejects.toBe(error);
    await expect(b).rejects.toBe(error);
    expect(commits.map(({ key, group }) => [key, group])).toEqual([
      ['k', ['a', 'b']],
      ['l', ['z']],
      ['k', ['c']],
    ]);
    await commits[1]?.end();
    await commits[2]?.end();
    expect(await Promise.all([c, other])).toEqual(['did c', 'did z']);
    expect(settled).toEqual(['a failed', 'b failed', 'z', 'c']);
  });

  it('rejects the group if the commit throws synchronously', async () => {
    const groups = new GroupCommit<string, string>({
      maxGroupSize: 2,
      maxWaiting: 10,
      identity: (entry) => entry,
      commit: () => {
        throw new Error('at once');
      },
    });
    await expect(groups.submit('k', 'a')).rejects.toThrow('at once');
    await expect(groups.submit('k', 'b')).rejects.toThrow('at once');
    await groups.flush();
  });

  it('commits different keys concurrently', async () => {
    const { submit, commits, settled } = manualGroups();
    submit('k', 'a');
    submit('l', 'a');
    await turn();
    submit('m', 'b');
    await turn();
    expect(commits.map(({ key }) => key)).toEqual(['k', 'l', 'm']);
    await commits[2]?.end();
    await commits[1]?.end();
    expect(settled).toEqual(['b', 'a']);
    await commits[0]?.end();
    expect(settled).toEqual(['b', 'a', 'a']);
  });

  it('rejects at once an entry beyond maxWaiting over all keys, and accepts again when there is room', async () => {
    const { submit, commits, settled } = manualGroups({ maxWaiting: 3 });
    submit('k', 'a', 'b');
    submit('l', 'c');
    const [refused] = submit('k', 'd');
    const error = await refused?.catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(GatewayError);
    expect((error as GatewayError).extensions).toEqual({
      code: 'SERVICE_UNAVAILABLE',
      retryable: true,
      retryAfterSecs: 1,
    });
    expect(settled).toEqual(['d failed']);
    await turn();
    const [stillFull] = submit('m', 'e');
    await expect(stillFull).rejects.toBeInstanceOf(GatewayError);

    await commits.find(({ key }) => key === 'l')?.end();
    const [taken] = submit('m', 'f');
    await turn();
    await commits.find(({ key }) => key === 'm')?.end();
    expect(await taken).toBe('did f');
    expect(commits.some(({ group }) => group.includes('d') || group.includes('e'))).toBe(false);
  });

  it('has room after a commit that threw, and counts a retried entry as waiting', async () => {
    const { submit, commits } = manualGroups({ maxWaiting: 1 });
    submit('k', 'a');
    await turn();
    await commits[0]?.end('a');
    await expect(submit('k', 'b')[0]).rejects.toBeInstanceOf(GatewayError);
    await commits[1]?.fail(new Error('gone'));
    const [taken] = submit('k', 'c');
    await turn();
    await commits[2]?.end();
    expect(await taken).toBe('did c');
  });

  it('spreads the results of a large group over event-loop turns, and starts the next commit meanwhile', async () => {
    let nowMs = 0;
    const groups: (readonly string[])[] = [];
    const busy = new GroupCommit<string, string>({
      scheduler: new EventLoopScheduler({ monotonicMs: () => nowMs }),
      maxGroupSize: 50,
      maxWaiting: 100,
      identity: (entry) => entry,
      commit: async (_, group) => {
        groups.push(group);
        return group.map((entry) => ({ done: entry }));
      },
    });
    const returned: string[] = [];
    const entries = Array.from({ length: 60 }, (_, i) => `e${i}`);
    const all = entries.map(async (entry) => {
      returned.push(await busy.submit('k', entry));
      nowMs += 1; // the work of the caller with its result
    });
    const countPerTurn: number[] = [];
    while (returned.length < entries.length) {
      await turn();
      countPerTurn.push(returned.length);
    }
    await Promise.all(all);
    await busy.flush();
    expect(groups.map(({ length }) => length)).toEqual([50, 10]);
    expect([...returned].sort()).toEqual([...entries].sort());
    expect(countPerTurn.length).toBeGreaterThan(5);
  });

  it('flushes at once if nothing is pending', async () => {
    const { groups, submit, commits } = manualGroups();
    await groups.flush();
    submit('k', 'a');
    await turn();
    await commits[0]?.end();
    await groups.flush();
  });

  it('flushes when the last entry of all keys has a result, and not before', async () => {
    const { groups, submit, commits } = manualGroups({ maxGroupSize: 1 });
    submit('k', 'a', 'b');
    submit('l', 'c');
    let flushed = 0;
    for (let i = 0; i < 2; i++) void groups.flush().then(() => flushed++);
    await turn();
    await commits[0]?.fail(new Error('gone'));
    await commits[1]?.end('c');
    const flushedAfter = [flushed];
    for (const commit of commits.slice(2)) {
      await commit.end();
      flushedAfter.push(flushed);
    }
    expect(commits.map(({ group }) => group)).toEqual([['a'], ['c'], ['b'], ['c']]);
    expect(flushedAfter).toEqual([0, 0, 2]);
  });

  it('settles each entry exactly once with its own outcome, in any order of events', async () => {
    const pause = fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 4 }), fc.constant(-1));
    /** Waits for `length` microtasks, or for a turn of the event loop if it is negative. */
    const wait = async (length: number) => {
      if (length < 0) await turn();
      for (let i = 0; i < length; i++) await Promise.resolve();
    };
    const submission = fc.record({
      key: fc.constantFrom('k', 'l', 'm'),
      identity: fc.constantFrom('u', 'v', 'w', 'x', 'y'),
      pause,
    });
    const commitPlan = fc.record({ pause, throws: fc.boolean(), again: fc.array(fc.boolean(), { maxLength: 4 }) });
    const scenario = fc.record({
      submissions: fc.array(submission, { maxLength: 40 }),
      plans: fc.array(commitPlan, { maxLength: 30 }),
      maxGroupSize: fc.integer({ min: 1, max: 4 }),
      maxWaiting: fc.integer({ min: 1, max: 40 }),
    });
    await fc.assert(
      fc.asyncProperty(scenario, async ({ submissions, plans, maxGroupSize, maxWaiting }) => {
        interface Entry {
          readonly id: number;
          readonly identity: string;
        }
        const done: number[] = [];
        const thrown: number[] = [];
        const inFlight = new Set<string>();
        const left = [...plans];
        const groups = new GroupCommit<Entry, number>({
          maxGroupSize,
          maxWaiting,
          identity: ({ identity }) => identity,
          async commit(key, group) {
            const faults = [
              ...(inFlight.has(key) ? ['two commits at once for one key'] : []),
              ...(group.length === 0 || group.length > maxGroupSize ? [`a group of ${group.length}`] : []),
              ...(new Set(group.map(({ identity }) => identity)).size < group.length
                ? ['equal identities in one group']
                : []),
            ];
            expect(faults).toEqual([]);
            inFlight.add(key);
            const plan = left.shift();
            await wait(plan?.pause ?? 0);
            inFlight.delete(key);
            if (plan?.throws) {
              thrown.push(...group.map(({ id }) => id));
              throw new Error('planned');
            }
            return group.map(({ id }, i) => {
              if (plan?.again[i]) return 'again';
              done.push(id);
              return { done: id };
            });
          },
        });

        const outcomes = new Map<number, string[]>();
        const note = (id: number, outcome: string) => outcomes.set(id, [...(outcomes.get(id) ?? []), outcome]);
        for (const [id, { key, identity, pause: length }] of submissions.entries()) {
          await wait(length);
          groups.submit(key, { id, identity }).then(
            (result) => note(id, result === id ? 'done' : `the result of ${result}`),
            (error: unknown) => note(id, error instanceof GatewayError ? 'refused' : (error as Error).message),
          );
        }
        await groups.flush();
        await turn();

        expect(outcomes.size).toBe(submissions.length);
        const byOutcome = (outcome: string) =>
          [...outcomes].filter(([, got]) => got.length === 1 && got[0] === outcome).map(([id]) => id);
        const inOrder = (ids: readonly number[]) => [...ids].sort((a, b) => a - b);
        expect(inOrder(byOutcome('done'))).toEqual(inOrder(done));
        expect(inOrder(byOutcome('planned'))).toEqual(inOrder(thrown));
        expect(done.length + thrown.length + byOutcome('refused').length).toBe(submissions.length);
        if (submissions.length <= maxWaiting) expect(byOutcome('refused')).toEqual([]);
        // Entries of a key with equal identities are committed in order of arrival.
        const queueOf = (id: number) => `${submissions[id]?.key} ${submissions[id]?.identity}`;
        for (const queue of new Set(done.map(queueOf))) {
          const ids = done.filter((id) => queueOf(id) === queue);
          expect(ids).toEqual(inOrder(ids));
        }
      }),
      { numRuns: 400 },
    );
  });
});
