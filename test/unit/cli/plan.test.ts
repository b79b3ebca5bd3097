import fc from 'fast-check';
import { diffText, planText } from '../../../src/cli/apply/diff.js';
import { configFileText, levelDocument, parseConfigFile } from '../../../src/cli/apply/file.js';
import { canonical, type ItemDocument, isApplied, itemName, parseItem } from '../../../src/cli/apply/item.js';
import { type ItemRecord, type LiveItem, type PlanAction, plan } from '../../../src/cli/apply/plan.js';

const item = 'budget:monthly';
const [a, b, c] = [{ usdMicros: 1 }, { usdMicros: 2 }, { usdMicros: 3 }] as const;
const manager = 'me';
const record = (document: ItemDocument, version: number, more: Partial<ItemRecord> = {}): ItemRecord => ({
  manager,
  document,
  version,
  ...more,
});

interface Situation {
  readonly desired?: ItemDocument;
  readonly live?: LiveItem;
  readonly record?: ItemRecord;
  readonly prune?: boolean;
  readonly force?: boolean;
}

const stepsOf = ({ desired, live, record: known, prune = false, force = false }: Situation) =>
  plan({
    manager,
    prune,
    force,
    desired: new Map(desired ? [[item, desired]] : []),
    live: new Map(live ? [[item, live]] : []),
    records: new Map(known ? [[item, known]] : []),
  });

describe('the three-way diff', () => {
  it.each<[string, ItemDocument, PlanAction]>([
    ['goes on if only fields changed that the file leaves out', { name: 'One', ledger: true }, 'update'],
    ['stops if a field changed that was applied', { name: 'Somebody', ledger: false }, 'conflict'],
  ])('%s', (_, document, action) => {
    const records = new Map([['org', record({ name: 'One' }, 1)]]);
    const live = new Map([['org', { document, version: 2 }]]);
    const steps = plan({ manager, prune: false, desired: new Map([['org', { name: 'Two' }]]), records, live });
    expect(steps).toEqual([expect.objectContaining({ action })]);
  });

  it.each<[string, Situation, PlanAction]>([
    ['creates what does not exist', { desired: a }, 'create'],
    [
      'changes nothing if all are equal',
      { desired: a, live: { document: a, version: 1 }, record: record(a, 1) },
      'none',
    ],
    ['leaves an equal thing unmanaged', { desired: a, live: { document: a, version: 7 } }, 'none'],
    ['takes over a thing that differs', { desired: a, live: { document: b, version: 7 } }, 'update'],
    ['updates what was applied', { desired: b, live: { document: a, version: 1 }, record: record(a, 1) }, 'update'],
    [
      'stops if somebody changed it',
      { desired: b, live: { document: c, version: 2 }, record: record(a, 1) },
      'conflict',
    ],
    [
      'stops if somebody changed it and changed it back',
      { desired: b, live: { document: a, version: 3 }, record: record(a, 1) },
      'conflict',
    ],
    ['stops if somebody deleted it', { desired: b, record: record(a, 1) }, 'conflict'],
    [
      'records a change of somebody that the file has too',
      { desired: b, live: { document: b, version: 2 }, record: record(a, 1) },
      'record',
    ],
    [
      'stops at a thing of another file',
      { desired: b, live: { document: a, version: 1 }, record: record(a, 1, { manager: 'other' }) },
      'conflict',
    ],
    [
      'leaves an equal thing to the other file that manages it',
      { desired: b, live: { document: b, version: 2 }, record: record(a, 1, { manager: 'other' }) },
      'none',
    ],
    ['creates anew what was deleted before a kill', { desired: a, record: record(a, 1, { intent: null }) }, 'create'],
    [
      'repeats a deletion that was not made before a kill',
      { live: { document: a, version: 1 }, record: record(a, 1, { intent: null }), prune: true },
      'delete',
    ],
    [
      'updates what was not deleted before a kill',
      { desired: b, live: { document: a, version: 1 }, record: record(a, 1, { intent: null }) },
      'update',
    ],
    ['keeps what left the file', { live: { document: a, version: 1 }, record: record(a, 1) }, 'orphan'],
    ['prunes what left the file', { live: { document: a, version: 1 }, record: record(a, 1), prune: true }, 'delete'],
    [
      'prunes nothing that somebody changed',
      { live: { document: b, version: 2 }, record: record(a, 1), prune: true },
      'conflict',
    ],
    [
      'overwrites what somebody changed, if it is forced',
      { desired: b, live: { document: c, version: 2 }, record: record(a, 1), force: true },
      'update',
    ],
    ['creates what somebody deleted, if it is forced', { desired: b, record: record(a, 1), force: true }, 'create'],
    [
      'takes over a thing of another file, if it is forced',
      { desired: b, live: { document: a, version: 1 }, record: record(a, 1, { manager: 'other' }), force: true },
      'update',
    ],
    [
      'prunes what somebody changed, if it is forced',
      { live: { document: b, version: 2 }, record: record(a, 1), prune: true, force: true },
      'delete',
    ],
    ['forgets what is gone', { record: record(a, 1), prune: true }, 'forget'],
    [
      'finishes a change that was made before a kill',
      { desired: b, live: { document: b, version: 2 }, record: record(a, 1, { intent: b }) },
      'record',
    ],
    [
      'repeats a change that was not made before a kill',
      { desired: b, live: { document: a, version: 1 }, record: record(a, 1, { intent: b }) },
      'update',
    ],
    [
      'stops if somebody changed it after a kill',
      { desired: b, live: { document: c, version: 2 }, record: record(a, 1, { intent: b }) },
      'conflict',
    ],
    [
      'goes on from a change that was made before a kill, if the file has changed since',
      { desired: c, live: { document: b, version: 2 }, record: record(a, 1, { intent: b }) },
      'update',
    ],
    ['repeats a creation that was not made before a kill', { desired: a, record: { manager, intent: a } }, 'create'],
    [
      'prunes a creation that was made before a kill',
      { live: { document: a, version: 1 }, record: { manager, intent: a }, prune: true },
      'delete',
    ],
    [
      'prunes nothing that it only intended to take over',
      { live: { document: b, version: 1 }, record: { manager, intent: a }, prune: true },
      'forget',
    ],
  ])('%s', (_, situation, action) => expect(stepsOf(situation)).toEqual([expect.objectContaining({ action })]));

  it('ignores what only another file manages', () => {
    const foreign = record(a, 1, { manager: 'other' });
    expect(stepsOf({ live: { document: a, version: 1 }, record: foreign, prune: true })).toEqual([]);
  });

  it('never deletes an org, and forgets it', () => {
    const steps = plan({
      manager,
      prune: true,
      desired: new Map(),
      records: new Map([['org', record({ name: 'x' }, 1)]]),
      live: new Map([['org', { document: { name: 'x' }, version: 1 }]]),
    });
    expect(steps).toEqual([expect.objectContaining({ action: 'forget' })]);
  });

  it('creates before it refers, and deletes the other way round', () => {
    const names = ['limits:system', 'budget:b', 'app:a', 'org', 'price:p', 'model:m'];
    const all = (live: LiveItem | undefined) =>
      plan({
        manager,
        prune: true,
        desired: new Map(live ? [] : names.map((name) => [name, a])),
        records: new Map(live ? names.map((name) => [name, record(a, 1)]) : []),
        live: new Map(live ? names.map((name) => [name, live]) : []),
      }).map((step) => step.item);
    const order = ['model:m', 'org', 'app:a', 'budget:b', 'price:p', 'limits:system'];
    expect(all(undefined)).toEqual(order);
    expect(all({ document: a, version: 1 })).toEqual(['org', ...order.filter((name) => name !== 'org').reverse()]);
  });

  it('never changes a version that it has not seen, whatever the three states are', () => {
    const document = fc.constantFrom(a, b, c);
    const version = fc.integer({ min: 1, max: 3 });
    const situation = fc.record(
      {
        desired: document,
        live: fc.record({ document, version }),
        record: fc.oneof(
          fc.record({ manager: fc.constantFrom(manager, 'other'), document, version }),
          fc.record({ manager: fc.constantFrom(manager, 'other'), document, version, intent: document }),
          fc.record({ manager: fc.constantFrom(manager, 'other'), intent: document }),
        ),
        prune: fc.boolean(),
      },
      { requiredKeys: ['prune'] },
    );
    fc.assert(
      fc.property(situation, (given) => {
        for (const step of stepsOf(given)) {
          const { live = { version: 0 } as LiveItem, desired, record: known } = given;
          const isEqual = desired !== undefined && isApplied(item, desired, live.document);
          if (step.action === 'update' || step.action === 'create') {
            expect(isEqual).toBe(false);
            const base = step.record;
            if (base?.document) expect(base.version).toBe(live.version);
          }
          if (isEqual) expect(['none', 'record']).toContain(step.action);
          if (step.action === 'delete') {
            expect(known?.manager).toBe(manager);
            expect(given.prune).toBe(true);
            expect(step.record?.version).toBe(live.version);
          }
        }
      }),
      { seed: 84, numRuns: 2000 },
    );
  });

  it('shows both sides of a conflict, and what was applied', () => {
    const steps = stepsOf({ desired: b, live: { document: c, version: 2 }, record: record(a, 1) });
    expect(planText(steps, 'org x')).toBe(
      'org x\n  ! conflict budget:monthly: somebody changed it: version 1 was applied, and it has version 2\n',
    );
    const text = diffText(steps, 'org x');
    for (const line of ['applied  usdMicros: 1', '- gateway  usdMicros: 3', '+ file     usdMicros: 2'])
      expect(text).toContain(line);
  });
});

describe('the names of things', () => {
  it('keep their parts, whatever these contain', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1 }), fc.string({ minLength: 1 }), (entity, resource) => {
        fc.pre(entity.isWellFormed() && resource.isWellFormed());
        const name = itemName('limits', 'entity', entity, resource);
        expect(parseItem(name)).toEqual({ kind: 'limits', parts: ['entity', entity, resource] });
      }),
      { seed: 84 },
    );
    expect(() => parseItem('spaceship:x')).toThrow('upgrade');
  });

  it('compares documents by value: order of fields and nulls do not count', () => {
    expect(canonical({ b: 1, a: { d: null, c: 2 } })).toBe(canonical({ a: { c: 2 }, b: 1 }));
    expect(isApplied('org', { name: 'x' }, { name: 'x', ledger: true })).toBe(true);
    expect(isApplied('app:a', { name: 'x' }, { name: 'x', quotasUsdMicros: {} })).toBe(false);
  });
});

describe('tollgate.yaml', () => {
  const text = `
manager: repo
models:
  premium: { modelId: m, prices: [{ name: outputTokens, usdMicrosPer1M: 2 }, { name: inputTokens, usdMicrosPer1M: 1 }] }
orgs:
  - orgId: 00000000-0000-4000-8000-000000000001
    settings: { name: Acme, quotasUsdMicros: { premium: 5 }, hardQuotas: [premium] }
    apps: { chat: { name: Chat }, own: { name: Own, quotasUsdMicros: { b: 1, a: 2 }, hardQuotas: [b, a] } }
    budgets: { monthly: { period: MONTH, usdMicros: 7, raise: { until: 2026-12-01T00:00:00+01:00, usdMicros: 9 } } }
    pricesOfLabels: { premium: [{ name: inputTokens, usdMicrosPer1M: 1 }] }
    limits:
      system: { limits: [rpm=100], onUnavailable: ALLOW }
      resources: { gpt-4/eu: [tpm=40000:burst=60000/60s] }
      entities: { "a:b": { default: [rpm=5], resources: { gpt-4/eu: [jobs=2:concurrent] } } }
`;

  it('describes things with their defaults', () => {
    const { manager: name, tenants } = parseConfigFile(text);
    expect(name).toBe('repo');
    const [platform, org] = tenants;
    expect(platform?.isPlatform).toBe(true);
    expect(platform?.items.get('model:premium')).toMatchObject({
      prices: [{ name: 'inputTokens', above: 0 }, { name: 'outputTokens' }],
    });
    expect([...(org?.items.keys() ?? [])]).toEqual([
      'org',
      'app:chat',
      'app:own',
      'budget:monthly',
      'price:premium',
      'limits:system',
      'limits:resource:gpt-4%2Feu',
      'limits:entity:a%3Ab',
      'limits:entity:a%3Ab:gpt-4%2Feu',
    ]);
    expect(org?.items.get('budget:monthly')).toEqual({
      period: 'MONTH',
      usdMicros: 7,
      thresholdsPct: [50, 80, 95],
      enforcement: 'ALERT',
      raise: { until: '2026-11-30T23:00:00.000Z', usdMicros: 9 },
    });
    expect(org?.items.get('limits:system')).toEqual(levelDocument(['rpm=100'], 'ALLOW'));
  });

  it('is the same after it was written and read again', () => {
    const file = parseConfigFile(text);
    expect(parseConfigFile(configFileText(file))).toEqual(file);
    expect(parseConfigFile('')).toEqual({ manager: 'tollgate.yaml', tenants: [] });
  });

  it('names every fault, and unknown fields are faults', () => {
    expect(() => parseConfigFile('orgs: [{ budgets: { b: { period: YEAR } }, colour: red }]')).toThrow(
      /orgs\.0\.budgets\.b\.period[\s\S]*usdMicros[\s\S]*colour/,
    );
    expect(() => parseConfigFile('orgs: [{}, {}]')).toThrow('twice');
    expect(() => parseConfigFile('orgs: [{ apps: { a: { name: A, hardQuotas: [x] } } }]')).toThrow('inherits both');
    expect(() => parseConfigFile('orgs: [{ limits: { system: { limits: [rpm] } } }]')).toThrow('name=capacity');
  });
});
