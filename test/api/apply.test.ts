import { TollgateError } from '@tollgate/client';
import fc from 'fast-check';
import { GatewayApi } from '../../src/cli/api/gateway-api.js';
import { diffText } from '../../src/cli/apply/diff.js';
import { applyPlan, changeCount, conflictCount, planFile, type TenantPlan } from '../../src/cli/apply/engine.js';
import { exportTenant } from '../../src/cli/apply/export.js';
import { type ConfigFile, configFileText, levelDocument, parseConfigFile } from '../../src/cli/apply/file.js';
import { canonical, type ItemDocument } from '../../src/cli/apply/item.js';
import type { ApplyApi } from '../../src/cli/apply/live.js';
import { ApplyTarget } from '../../src/cli/apply/target.js';
import { adminKey, orgInput, startTestApp, type TestApp } from '../support/app.js';
import * as op from '../support/operations.js';

let app: TestApp;
let api: GatewayApi;
beforeAll(async () => {
  app = await startTestApp();
  api = new GatewayApi(app.url, { adminKey });
});
afterAll(() => app.stop());

const newOrg = async (): Promise<string> =>
  (await app.admin.ask(op.RegisterOrgDocument, { input: orgInput() })).registerOrg.org.orgId;

const fileOf = (
  orgId: string,
  items: Readonly<Record<string, ItemDocument | undefined>>,
  manager = 'test',
): ConfigFile => ({
  manager,
  tenants: [{ orgId, items: new Map(Object.entries(items) as [string, ItemDocument][]) }],
});

/** Counts mutations. Dies after some operations like a process that is killed, or loses the response of changes. */
class Traced implements ApplyApi {
  mutations: string[] = [];
  losesResponses = false;
  private calls = 0;

  constructor(private readonly dieAfter = Number.POSITIVE_INFINITY) {}

  async query<T>(document: string, variables?: object): Promise<T> {
    if (this.calls >= this.dieAfter) throw new Error('killed');
    this.calls++;
    const [, field] = /mutation[^{]*\{\s*(\w+)/.exec(document) ?? [];
    if (field) this.mutations.push(field);
    const data = await api.query<T>(document, variables);
    // Killed after the change was made and before its response was seen.
    if (this.calls >= this.dieAfter) throw new Error('killed');
    if (this.losesResponses && field && field !== 'setManagedItems')
      throw new TollgateError('SERVICE_UNAVAILABLE', 'the response was lost');
    return data;
  }
}

const planned = (file: ConfigFile, over: ApplyApi = api, prune = false, force = false): Promise<TenantPlan[]> =>
  planFile(file, ({ items: _, ...tenant }) => new ApplyTarget({ api: over, clock: app.clock }, tenant), {
    prune,
    force,
  });

async function apply(file: ConfigFile, over: ApplyApi = api, prune = false): Promise<number> {
  const plans = await planned(file, over, prune);
  expect(conflictCount(plans)).toBe(0);
  for (const plan of plans) await applyPlan(plan, { manager: file.manager });
  return changeCount(plans);
}

/** Everything that the gateway has of an org, without versions. */
const stateOf = async (orgId: string): Promise<string> => {
  const { items } = await exportTenant(new ApplyTarget({ api, clock: app.clock }, { orgId }), api);
  return canonical(Object.fromEntries(items));
};

const everything: Readonly<Record<string, ItemDocument>> = {
  org: {
    name: 'Managed',
    ledger: true,
    maxReservationPct: 50,
    hardQuotas: ['premium'],
    quotasUsdMicros: { premium: 7_000_000, standard: 4_000_000, economy: 1_000_000 },
  },
  'app:chat': { name: 'Chat' },
  'budget:monthly': {
    period: 'MONTH',
    usdMicros: 9_000_000,
    thresholdsPct: [50, 80, 95],
    enforcement: 'HARD',
    appId: 'chat',
  },
  'price:premium': { prices: [{ name: 'input', usdMicrosPer1M: 5, above: 0 }] },
  'limits:system': levelDocument(['rpm=100'], 'BLOCK'),
  'limits:resource:gpt-4': levelDocument(['tpm=40000:burst=60000/60s', 'calls=500/day']),
  'limits:entity:ana': levelDocument(['jobs=3:concurrent']),
  'limits:entity:ana:gpt-4': levelDocument(['rpm=7:shadow/30s']),
};

describe('apply', () => {
  it('makes the gateway what the file says, and then finds nothing to do and writes nothing', async () => {
    const orgId = await newOrg();
    const file = fileOf(orgId, everything);
    expect(await apply(file)).toBe(8);
    const again = new Traced();
    expect(await apply(file, again)).toBe(0);
    expect(again.mutations).toEqual([]);
    const { org } = await app.admin.ask(op.OrgDocument, { orgId });
    expect(org?.name).toBe('Managed');
  });

  it('refuses a hard quota for a label without an amount, and says where', async () => {
    const file = fileOf(await newOrg(), { org: { hardQuotas: ['turbo'] } });
    await expect(apply(file)).rejects.toThrow('hardQuotas: "turbo" has no quota');
    const wrong = fileOf(await newOrg(), { 'app:chat': { name: 'Chat', modelOrdering: ['turbo'] } });
    await expect(apply(wrong)).rejects.toThrow(/^app:chat: input\.modelOrdering\.0: unknown label/);
  });

  it('writes nothing for unmanaged things that are equal, and never prunes them', async () => {
    const orgId = await newOrg();
    await apply(fileOf(orgId, everything, 'first'));
    const other = await newOrg();
    await app.admin.ask('mutation ($input: RegisterAppInput!) { registerApp(input: $input) { app { appId } } }', {
      input: { orgId: other, appId: 'chat', name: 'Chat' },
    });
    const traced = new Traced();
    expect(await apply(fileOf(other, { 'app:chat': { name: 'Chat' } }), traced)).toBe(0);
    expect(await apply(fileOf(other, {}), traced, true)).toBe(0);
    expect(traced.mutations).toEqual([]);
  });

  it('stops if somebody made another change, shows both, and goes on once the file has it', async () => {
    const orgId = await newOrg();
    const budget = everything['budget:monthly'] as ItemDocument;
    const { appId: _, ...plain } = budget;
    await apply(fileOf(orgId, { 'budget:monthly': plain }));
    await app.admin.ask('mutation ($input: SetBudgetInput!) { setBudget(input: $input) { version } }', {
      input: { orgId, name: 'monthly', ...plain, usdMicros: 1 },
    });
    const mine = { 'budget:monthly': { ...plain, usdMicros: 2 } };
    const [plan] = await planned(fileOf(orgId, mine));
    expect(plan?.steps).toEqual([
      expect.objectContaining({
        action: 'conflict',
        live: { document: { ...plain, usdMicros: 1 }, version: 2 },
        record: expect.objectContaining({ document: plain, version: 1 }),
      }),
    ]);
    const [pruned] = await planned(fileOf(orgId, {}), api, true);
    expect(pruned?.steps).toEqual([expect.objectContaining({ action: 'conflict' })]);
    expect(await apply(fileOf(orgId, { 'budget:monthly': { ...plain, usdMicros: 1 } }))).toBe(0);
    expect(await apply(fileOf(orgId, mine))).toBe(1);
  });

  it('overwrites the change of somebody else if it is forced, but none that comes after the plan', async () => {
    const orgId = await newOrg();
    const budget = { period: 'MONTH', usdMicros: 5, thresholdsPct: [50], enforcement: 'ALERT' };
    const setBudget = (usdMicros: number) =>
      app.admin.ask('mutation ($input: SetBudgetInput!) { setBudget(input: $input) { version } }', {
        input: { orgId, name: 'monthly', ...budget, usdMicros },
      });
    await apply(fileOf(orgId, { 'budget:monthly': budget }));
    await setBudget(1);
    const file = fileOf(orgId, { 'budget:monthly': { ...budget, usdMicros: 2 } });
    const [late] = await planned(file, api, false, true);
    expect(
      diffText(late?.steps ?? [], 'org')
        .split('\n')
        .slice(1),
    ).toEqual([
      '  ~ budget:monthly: somebody changed it: version 1 was applied, and it has version 2',
      '      applied  usdMicros: 5',
      '      - gateway  usdMicros: 1',
      '      + file     usdMicros: 2',
      '',
    ]);
    await setBudget(3);
    await expect(applyPlan(late as TenantPlan, { manager: 'test' })).rejects.toMatchObject({
      code: 'VERSION_CONFLICT',
    });
    expect(conflictCount(await planned(file))).toBe(1);
    const [plan] = await planned(file, api, false, true);
    await applyPlan(plan as TenantPlan, { manager: 'test' });
    expect(JSON.parse(await stateOf(orgId))).toMatchObject({ 'budget:monthly': { usdMicros: 2 } });
    // It is managed as before: nothing to do, and no conflict.
    expect(await apply(file)).toBe(0);
  });

  it('takes over a thing of another file if it is forced, and stops at it again from the other file', async () => {
    const orgId = await newOrg();
    await apply(fileOf(orgId, { 'app:chat': { name: 'Theirs' } }, 'theirs'));
    const mine = fileOf(orgId, { 'app:chat': { name: 'Mine' } }, 'mine');
    expect(conflictCount(await planned(mine))).toBe(1);
    const [plan] = await planned(mine, api, false, true);
    await applyPlan(plan as TenantPlan, { manager: 'mine' });
    expect(await apply(mine)).toBe(0);
    expect(conflictCount(await planned(fileOf(orgId, { 'app:chat': { name: 'Theirs' } }, 'theirs')))).toBe(1);
  });

  it('changes an org although somebody changed a setting that the file does not have', async () => {
    const orgId = await newOrg();
    const updateOrg = (changes: object) =>
      app.admin.ask('mutation ($input: UpdateOrgInput!) { updateOrg(input: $input) { version } }', {
        input: { orgId, ...changes },
      });
    await apply(fileOf(orgId, { org: { name: 'One' } }));
    await updateOrg({ ledger: true });
    expect(await apply(fileOf(orgId, { org: { name: 'Two' } }))).toBe(1);
    expect(JSON.parse(await stateOf(orgId))).toMatchObject({ org: { name: 'Two', ledger: true } });
    await updateOrg({ name: 'Somebody' });
    expect(conflictCount(await planned(fileOf(orgId, { org: { name: 'Three' } })))).toBe(1);
  });

  it('refuses a change that comes between plan and apply', async () => {
    const orgId = await newOrg();
    await apply(fileOf(orgId, { 'limits:system': levelDocument(['rpm=1']) }));
    const [plan] = await planned(fileOf(orgId, { 'limits:system': levelDocument(['rpm=2']) }));
    await app.admin.ask('mutation ($input: SetLimitsInput!) { setLimits(input: $input) { version } }', {
      input: { orgId, level: 'SYSTEM', limits: [{ name: 'rpm', capacity: 3 }] },
    });
    await expect(applyPlan(plan as TenantPlan, { manager: 'test' })).rejects.toMatchObject({
      code: 'VERSION_CONFLICT',
      message: expect.stringContaining('limits:system'),
    });
  });

  it('recognises changes and deletions whose response was lost', async () => {
    const orgId = await newOrg();
    const traced = new Traced();
    traced.losesResponses = true;
    expect(await apply(fileOf(orgId, everything), traced)).toBe(8);
    expect(await apply(fileOf(orgId, everything))).toBe(0);
    expect(await apply(fileOf(orgId, {}), traced, true)).toBe(7);
    expect(await apply(fileOf(orgId, {}), api, true)).toBe(0);
    expect(traced.mutations.filter((field) => field === 'registerApp')).toHaveLength(1);
  });

  it('deletes nothing that was changed between plan and apply', async () => {
    const orgId = await newOrg();
    const items = { 'app:chat': { name: 'Chat' }, 'price:premium': everything['price:premium'] };
    await apply(fileOf(orgId, items));
    for (const kept of ['app:chat', 'price:premium'] as const) {
      const { [kept]: _, ...others } = items;
      const [plan] = await planned(fileOf(orgId, others), api, true);
      expect(plan?.steps).toContainEqual(expect.objectContaining({ item: kept, action: 'delete' }));
      await app.admin.ask(
        `mutation ($orgId: UUID!) {
          updateApp(input: { orgId: $orgId, appId: "chat", name: "Changed for ${kept}" }) { version }
          setOrgPrice(input: { orgId: $orgId, label: "premium", prices: [{ name: "input", usdMicrosPer1M: 9 }] }) {
            version } }`,
        { orgId },
      );
      await expect(applyPlan(plan as TenantPlan, { manager: 'test' })).rejects.toMatchObject({
        code: 'VERSION_CONFLICT',
      });
      await apply(fileOf(orgId, JSON.parse(await stateOf(orgId)) as typeof items));
    }
    expect(Object.keys(JSON.parse(await stateOf(orgId)) as object)).toEqual(['app:chat', 'org', 'price:premium']);
  });

  it('prunes only what it manages, and only what another file does not', async () => {
    const orgId = await newOrg();
    await apply(fileOf(orgId, everything, 'a'));
    await apply(fileOf(orgId, { 'app:batch': { name: 'Batch' } }, 'b'));
    expect(await apply(fileOf(orgId, {}, 'a'), api, true)).toBe(7);
    const state = JSON.parse(await stateOf(orgId)) as object;
    expect(Object.keys(state)).toEqual(['app:batch', 'org']);
    const { managedItems } = await app.admin.ask<
      { managedItems: { nodes: { item: string; manager: string }[] } },
      object
    >('query ($orgId: UUID) { managedItems(orgId: $orgId) { nodes { item manager } } }', { orgId });
    expect(managedItems.nodes).toEqual([{ item: 'app:batch', manager: 'b' }]);
  });

  it('of an export is the identity', async () => {
    const orgId = await newOrg();
    await apply(fileOf(orgId, everything));
    const before = await stateOf(orgId);
    const tenant = await exportTenant(new ApplyTarget({ api, clock: app.clock }, { orgId }), api);
    const file = parseConfigFile(configFileText({ manager: 'another', tenants: [tenant] }));
    const traced = new Traced();
    expect(await apply(file, traced, true)).toBe(0);
    expect(traced.mutations).toEqual([]);
    expect(await stateOf(orgId)).toBe(before);
  });

  it('manages models of the catalog, and retires them', async () => {
    const model = { modelId: 'm-1', provider: 'test', prices: [{ name: 'input', usdMicrosPer1M: 3, above: 0 }] };
    const file = (items: object): ConfigFile => ({
      manager: 'catalog',
      tenants: [{ isPlatform: true, items: new Map(Object.entries(items)) }],
    });
    expect(await apply(file({ 'model:managed': model }))).toBe(1);
    expect(await apply(file({ 'model:managed': model }))).toBe(0);
    expect(await apply(file({ 'model:managed': { ...model, modelId: 'm-2' } }))).toBe(1);
    expect(await apply(file({}), api, true)).toBe(1);
    expect(await apply(file({ 'model:managed': model }))).toBe(1);
  });
});

describe('managed items', () => {
  const set = 'mutation ($input: SetManagedItemsInput!) { setManagedItems(input: $input) { item version } }';
  const list =
    'query ($orgId: UUID, $first: Int, $after: String) { managedItems(orgId: $orgId, first: $first, ' +
    'after: $after) { nodes { item document intent } pageInfo { hasNextPage endCursor } } }';
  interface Listed {
    managedItems: { nodes: { item: string }[]; pageInfo: { hasNextPage: boolean; endCursor: string } };
  }

  it('are listed page by page, also if DynamoDB returns fewer than asked for, and audited', async () => {
    const orgId = await newOrg();
    const document = 'x'.repeat(65_000);
    for (let i = 0; i < 24; i += 3) {
      const items = [0, 1, 2].map((k) => ({ item: `app:${String(i + k).padStart(2, '0')}`, document, version: 1 }));
      await app.admin.ask(set, { input: { orgId, manager: 'm', items } });
    }
    const found: string[] = [];
    let after: string | undefined;
    for (let pages = 0; pages < 10; pages++) {
      const { managedItems } = await app.admin.ask<Listed, object>(list, { orgId, first: 100, after });
      found.push(...managedItems.nodes.map(({ item }) => item));
      if (!managedItems.pageInfo.hasNextPage) break;
      after = managedItems.pageInfo.endCursor;
    }
    expect(found).toEqual(Array.from({ length: 24 }, (_, i) => `app:${String(i).padStart(2, '0')}`));
    const { org } = await app.admin.ask<{ org: { auditEvents: { nodes: object[] } } }, object>(
      'query ($orgId: UUID) { org(orgId: $orgId) { auditEvents(first: 1, entityId: "$MANAGER:m") { ' +
        'nodes { action } } } }',
      { orgId },
    );
    expect(org.auditEvents.nodes).toEqual([{ action: 'managed_items_set' }]);
  });

  it('are bounded, and for known orgs only', async () => {
    const send = (input: object) =>
      app.admin.codeOf(set, { input: { manager: 'm', items: [{ item: 'org' }], ...input } });
    expect(await send({ items: [] })).toBe('BAD_USER_INPUT');
    expect(await send({ orgId: '00000000-0000-4000-8000-000000000000' })).toBe('NOT_FOUND');
  });
});

describe('an apply that is killed', () => {
  const variants: Readonly<Record<string, readonly ItemDocument[]>> = {
    org: [
      { name: 'One', ledger: false },
      { name: 'Two', ledger: true },
    ],
    'app:chat': [
      { name: 'Chat' },
      {
        name: 'Talk',
        refreshIntervalNormalSecs: 100,
        quotasUsdMicros: { premium: 3, standard: 2, economy: 1 },
        hardQuotas: [],
      },
    ],
    'budget:daily': [1, 2].map((usdMicros) => ({
      period: 'DAY',
      usdMicros,
      thresholdsPct: [50],
      enforcement: 'ALERT',
    })),
    'limits:system': [levelDocument(['rpm=5']), levelDocument(['rpm=6:burst=9/10s', 'tpm=1'])],
    'limits:entity:ana:gpt-4': [levelDocument(['rpm=1']), levelDocument(['slots=2:concurrent'])],
  };
  const files = fc.record(
    Object.fromEntries(Object.entries(variants).map(([item, documents]) => [item, fc.constantFrom(...documents)])),
    { requiredKeys: ['org'] },
  );

  it('reaches the same state when it is run again, whatever the file says then', async () => {
    const thirds = fc.option(files);
    await fc.assert(
      fc.asyncProperty(
        files,
        files,
        thirds,
        fc.integer({ min: 3, max: 16 }),
        async (first, second, third, dieAfter) => {
          const [killed, clean] = await Promise.all([newOrg(), newOrg()]);
          for (const orgId of [killed, clean]) await apply(fileOf(orgId, first));
          await apply(fileOf(killed, second), new Traced(dieAfter), true).catch((error: unknown) => {
            if (!(error instanceof Error) || error.message !== 'killed') throw error;
          });
          // Absent: the same file is applied again.
          for (const orgId of [killed, clean]) await apply(fileOf(orgId, third ?? second), api, true);
          expect(await stateOf(killed)).toBe(await stateOf(clean));
          const again = new Traced();
          expect(await apply(fileOf(killed, third ?? second), again, true)).toBe(0);
          expect(again.mutations).toEqual([]);
          // Everything is still managed: it can be pruned.
          await apply(fileOf(killed, { org: first.org }), api, true);
          expect(Object.keys(JSON.parse(await stateOf(killed)) as object)).toEqual(['org']);
        },
      ),
      { seed: 84, numRuns: 15 },
    );
  });
});
