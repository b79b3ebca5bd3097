import fc from 'fast-check';
import { GatewayError } from '../../../src/lib/errors.js';
import { EventLoopScheduler } from '../../../src/lib/event-loop-scheduler.js';
import { type CommitResult, GroupCommit } from '../../../src/lib/group-commit.js';

/** Everything that can go on without a timer or a commit has gone on. */
const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

interface Held {
  readonly key: string;
  readonly group: readonly string[];
  /** Ends this commit: those named have to go again, all others are done. */
  end(...again: readonly string[]): Promise<void>;
  fail(error: Error): Promise<void>;
}

/** A group commit whose commits end when the test says so. An entry's identity is what stands before its colon. */
function held({ maxGroupSize = 3, maxWaiting = 100 } = {}) {
  const commits: Held[] = [];
  const settled: string[] = [];
  const groups = new GroupCommit<string, string>({
    maxGroupSize,
    maxWaiting,
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
      const answer = groups.submit(key, entry);
      answer.then(
        () => settled.push(entry),
        () => settled.push(`${entry} failed`),
      );
      return answer;
    });
  return { groups, commits, settled, submit, groupsSoFar: () => commits.map(({ group }) => group) };
}

describe('GroupCommit', () => {
  it('commits together what was submitted in one turn, in the order of arrival', async () => {
    const { submit, commits, groupsSoFar } = held();
    const answers = submit('k', 'a', 'b', 'c');
    await turn();
    expect(groupsSoFar()).toEqual([['a', 'b', 'c']]);
    await commits[0]?.end();
    expect(await Promise.all(answers)).toEqual(['did a', 'did b', 'did c']);
  });

  it('answers nobody before the commit has ended', async () => {
    const { submit, commits, settled } = held();
    submit('k', 'a', 'b');
    await turn();
    expect(settled).toEqual([]);
    await commits[0]?.end();
    expect(settled).toEqual(['a', 'b']);
  });

  it('takes no more into one commit than fit, and the rest in turn', async () => {
    const { submit, commits, groupsSoFar } = held({ maxGroupSize: 2 });
    submit('k', 'a', 'b', 'c', 'd', 'e');
    for (let i = 0; i < 3; i++) {
      await turn();
      await commits[i]?.end();
    }
    expect(groupsSoFar()).toEqual([['a', 'b'], ['c', 'd'], ['e']]);
  });

  it('lets what arrives during a commit wait for it, and go together after', async () => {
    const { groups, submit, commits, groupsSoFar, settled } = held();
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

  it('never puts equal identities into one group: the later ones follow one by one, in their order', async () => {
    const { submit, commits, groupsSoFar } = held({ maxGroupSize: 5 });
    const answers = submit('k', 'x:1', 'a', 'x:2', 'b', 'x:3');
    for (let i = 0; i < 3; i++) {
      await turn();
      await commits[i]?.end();
    }
    expect(groupsSoFar()).toEqual([['x:1', 'a', 'b'], ['x:2'], ['x:3']]);
    expect(await Promise.all(answers)).toEqual(['did x:1', 'did a', 'did x:2', 'did b', 'did x:3']);
  });

  it('does not let an equal identity overtake one that has to go again', async () => {
    const { submit, commits, groupsSoFar } = held();
    submit('k', 'x:1', 'x:2');
    await turn();
    await commits[0]?.end('x:1');
    await commits[1]?.end();
    await commits[2]?.end();
    expect(groupsSoFar()).toEqual([['x:1'], ['x:1'], ['x:2']]);
  });

  it('takes those that have to go again first, and in their order', async () => {
    const { submit, commits, groupsSoFar, settled } = held();
    submit('k', 'a', 'b', 'c', 'd', 'e');
    await turn();
    await commits[0]?.end('a', 'c');
    expect(settled).toEqual(['b']);
    await commits[1]?.end();
    await commits[2]?.end();
    expect(groupsSoFar()).toEqual([['a', 'b', 'c'], ['a', 'c', 'd'], ['e']]);
    expect(settled).toEqual(['b', 'a', 'c', 'd', 'e']);
  });

  it('fails with what a commit threw its own group, and nobody else', async () => {
    const { submit, commits, settled } = held({ maxGroupSize: 2 });
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

  it('fails its group also when the commit throws before it begins', async () => {
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

  it('writes different keys at the same time: none waits for another', async () => {
    const { submit, commits, settled } = held();
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

  it('turns away at once what is one too many, over all keys, and takes more when there is room', async () => {
    const { submit, commits, settled } = held({ maxWaiting: 3 });
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

  it('has room again after a commit that threw, and none for what has to go again', async () => {
    const { submit, commits } = held({ maxWaiting: 1 });
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

  it('tells those of a large group one after the other where others wait for the process, and begins the next commit meanwhile', async () => {
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
    const told: string[] = [];
    const entries = Array.from({ length: 60 }, (_, i) => `e${i}`);
    const all = entries.map(async (entry) => {
      told.push(await busy.submit('k', entry));
      nowMs += 1; // what each does with its answer
    });
    const seen: number[] = [];
    while (told.length < entries.length) {
      await turn();
      seen.push(told.length);
    }
    await Promise.all(all);
    await busy.flush();
    expect(groups.map(({ length }) => length)).toEqual([50, 10]);
    expect([...told].sort()).toEqual([...entries].sort());
    expect(seen.length).toBeGreaterThan(5);
  });

  it('flushes at once when nothing is pending, before and after there was something', async () => {
    const { groups, submit, commits } = held();
    await groups.flush();
    submit('k', 'a');
    await turn();
    await commits[0]?.end();
    await groups.flush();
  });

  it('flushes when the last of all keys is settled, and not before', async () => {
    const { groups, submit, commits } = held({ maxGroupSize: 1 });
    submit('k', 'a', 'b');
    submit('l', 'c');
    let flushed = 0;
    for (let i = 0; i < 2; i++) void groups.flush().then(() => flushed++);
    await turn();
    await commits[0]?.fail(new Error('gone'));
    await commits[1]?.end('c');
    const seen = [flushed];
    for (const commit of commits.slice(2)) {
      await commit.end();
      seen.push(flushed);
    }
    expect(commits.map(({ group }) => group)).toEqual([['a'], ['c'], ['b'], ['c']]);
    expect(seen).toEqual([0, 0, 2]);
  });

  it('settles each entry once, with its own outcome, whatever happens when', async () => {
    const pause = fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 4 }), fc.constant(-1));
    /** So many microtasks, or a turn of the event loop. */
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
        // Equal identities of a key have their turn in the order of arrival.
        const lineOf = (id: number) => `${submissions[id]?.key} ${submissions[id]?.identity}`;
        for (const line of new Set(done.map(lineOf))) {
          const those = done.filter((id) => lineOf(id) === line);
          expect(those).toEqual(inOrder(those));
        }
      }),
      { numRuns: 400 },
    );
  });
});
