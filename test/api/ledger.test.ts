import { randomUUID } from 'node:crypto';
import { connect } from 'node:net';
import type { Item } from '../../src/dynamo/expression.js';
import { dimensionShardKey } from '../../src/spend/breakdown/dimension.item.js';
import { stampOf, toCostRecord } from '../../src/spend/cost.item.js';
import { dirtyKey } from '../../src/spend/ledger/dirty-day.store.js';
import { shardTable } from '../../src/spend/shard.store.js';
import { shardKey } from '../../src/spend/spend.item.js';
import { type Caller, newApp, newOrg } from '../support/app.js';
import * as op from '../support/operations.js';
import {
  addApp,
  ago,
  app,
  cost,
  dayMs,
  daysAgo,
  exact,
  hourMs,
  inUtc,
  newPlace,
  other,
  type Place,
  spendOf,
  startStage,
  stopStage,
  submit,
  submitAll,
  worker,
} from '../support/spend-stage.js';

beforeAll(startStage);
afterAll(stopStage);

const withLedger = { ...inUtc, ledger: true } as const;
const today = () => daysAgo(0);
const entryOf = async (place: Place, requestId: string) =>
  (await app.admin.ask(op.CostDocument, { ...place, requestId })).org?.cost;
const pageOf = async (orgId: string, variables: Partial<op.CostsQueryVariables> = {}) => {
  const all = { orgId, from: today(), to: today(), ...variables };
  return (await app.admin.ask(op.CostsDocument, all)).org?.costs as NonNullable<op.CostsQuery['org']>['costs'];
};
const correction = (place: Place, requestId: string, overrides: Partial<op.CorrectCostInput> = {}) => ({
  ...place,
  requestId,
  correctionId: randomUUID(),
  deltaUsdMicros: -100,
  reason: 'refunded by the provider',
  ...overrides,
});
const correct = async (input: op.CorrectCostInput, on = app) =>
  (await on.admin.ask(op.CorrectCostDocument, { input })).correctCost;
const refusalOf = async (input: op.CorrectCostInput) =>
  (await app.admin.send(op.CorrectCostDocument, { input })).errors?.[0];

describe('a recorded cost', () => {
  it('is shown with all its fields, without a ledger', async () => {
    const place = await newPlace();
    const occurredAt = ago(90 * 60_000);
    const input = cost(place, { occurredAt, callStatus: 'ERROR' });
    await submit(input);
    const { org } = await app.admin.ask(op.CostDocument, { ...place, requestId: input.requestId });
    expect(org?.cost).toEqual({
      requestId: input.requestId,
      appId: 'chat',
      label: 'premium',
      day: occurredAt.slice(0, 10),
      hourStartsAt: `${occurredAt.slice(0, 13)}:00:00.000Z`,
      occurredAt,
      receivedAt: expect.stringMatching(/^2030-03-04T15:/),
      inputTokens: 10,
      outputTokens: 20,
      costUsdMicros: 1000,
      correctedUsdMicros: 1000,
      status: 'ERROR',
      priceSource: 'SUBMITTED',
      dimensions: [],
      corrections: [],
    });
    expect(org?.app?.cost).toEqual(org?.cost);
  });

  it('is null for another app, another org and an unknown id', async () => {
    const place = await newPlace();
    const { requestId } = await submit(cost(place));
    await addApp(place.orgId, 'web');
    expect(await entryOf({ ...place, appId: 'web' }, requestId)).toBeNull();
    expect(await entryOf({ ...place, appId: 'Not an id' }, requestId)).toBeNull();
    expect(await entryOf(await newPlace(), requestId)).toBeNull();
    expect(await entryOf(place, randomUUID())).toBeNull();
  });
});

describe('the costs of an org', () => {
  it('are listed only if the ledger is on', async () => {
    const { orgId } = await newPlace();
    const { errors } = await app.admin.send(op.CostsDocument, { orgId, from: today(), to: today() });
    expect(errors?.[0]?.extensions).toMatchObject({ code: 'BAD_USER_INPUT' });
    expect(errors?.[0]?.message).toContain('updateOrg(input: { ledger: true })');
  });

  it('come newest first over days and partitions, each once, in pages of any size', async () => {
    const place = await newPlace({ ...withLedger, shardCount: 64 });
    await addApp(place.orgId, 'web');
    const inputs = Array.from({ length: 40 }, (_, i) =>
      cost({ ...place, appId: i % 4 === 0 ? 'web' : 'chat' }, { occurredAt: ago(i * 30 * 60_000), inputTokens: i }),
    );
    await submitAll(inputs);
    const range = { from: daysAgo(2), to: today() };
    for (const first of [100, 7]) {
      const found: string[] = [];
      for (let after: string | null = null, more = true; more; ) {
        const page: Awaited<ReturnType<typeof pageOf>> = await pageOf(place.orgId, { ...range, first, after });
        found.push(...page.nodes.map(({ requestId }) => requestId));
        ({ endCursor: after, hasNextPage: more } = page.pageInfo);
      }
      expect(found).toEqual(inputs.map(({ requestId }) => requestId));
    }
    const yesterday = await pageOf(place.orgId, { from: daysAgo(1), to: daysAgo(1) });
    expect(new Set(yesterday.nodes.map(({ day }) => day))).toEqual(new Set([daysAgo(1)]));
    const ofWeb = await pageOf(place.orgId, { ...range, appId: 'web' });
    expect(ofWeb.nodes.map(({ inputTokens }) => inputTokens)).toEqual([0, 4, 8, 12, 16, 20, 24, 28, 32, 36]);
    const { org } = await app.admin.ask(op.AppCostsDocument, { ...place, appId: 'web', ...range, first: 3 });
    expect(org?.app?.costs.nodes.map(({ requestId }) => requestId)).toEqual(
      ofWeb.nodes.slice(0, 3).map(({ requestId }) => requestId),
    );
  });

  it('that a filter seldom finds are read 1,000 at a time', async () => {
    const place = await newPlace(withLedger);
    const rare = cost(place, { modelLabel: 'economy', occurredAt: ago(hourMs) });
    await submit(rare);
    const common = Array.from({ length: 1050 }, () => cost(place));
    for (let i = 0; i < common.length; i += 100) await submitAll(common.slice(i, i + 100));
    const first = await pageOf(place.orgId, { label: 'economy' });
    expect(first.nodes).toEqual([]);
    expect(first.pageInfo.hasNextPage).toBe(true);
    const second = await pageOf(place.orgId, { label: 'economy', after: first.pageInfo.endCursor });
    expect(second.nodes.map(({ requestId }) => requestId)).toEqual([rare.requestId]);
    expect(second.pageInfo.hasNextPage).toBe(false);
  });

  it('are not listed beyond 31 days', async () => {
    const { orgId } = await newPlace(withLedger);
    const messageOf = async (query: string) => (await app.admin.send(query, {})).errors?.[0]?.message;
    const costs = (from: string) =>
      `{ org(orgId: "${orgId}") { costs(from: "${from}", to: "${today()}", first: 1) { nodes { day } } } }`;
    expect(await messageOf(costs(daysAgo(30)))).toBeUndefined();
    expect(await messageOf(costs(daysAgo(31)))).toContain('more than the maximum of 31');
  });
});

describe('a correction', () => {
  it('counts once, however often and wherever it is sent', async () => {
    const place = await newPlace();
    const { requestId } = await submit(cost(place));
    const input = correction(place, requestId);
    const receipts = await Promise.all(Array.from({ length: 8 }, (_, i) => correct(input, i % 2 === 0 ? app : other)));
    expect(receipts.filter(({ replayed }) => !replayed)).toHaveLength(1);
    expect(await correct(input)).toMatchObject({ replayed: true, correction: { deltaUsdMicros: -100 } });
    expect(await exact(place)).toMatchObject({ costUsdMicros: 900, requests: 1, inputTokens: 10 });
    await worker.spend.sumAll();
    expect((await spendOf(place, 'AGGREGATED')).costUsdMicros).toBe(900);
    expect(await entryOf(place, requestId)).toMatchObject({
      costUsdMicros: 1000,
      correctedUsdMicros: 900,
      corrections: [{ correctionId: input.correctionId, deltaUsdMicros: -100, reason: input.reason }],
    });
  });

  it('with another payload is a conflict', async () => {
    const place = await newPlace();
    const { requestId } = await submit(cost(place));
    const input = correction(place, requestId);
    await correct(input);
    for (const change of [{ deltaUsdMicros: -99 }, { reason: 'another' }])
      expect((await refusalOf({ ...input, ...change }))?.extensions.code).toBe('IDEMPOTENCY_CONFLICT');
    const sameId = await submit(cost(place));
    expect((await correct({ ...input, requestId: sameId.requestId })).replayed).toBe(false);
    expect((await exact(place)).costUsdMicros).toBe(1800);
  });

  it('never credits more than the cost, also if several are made at once', async () => {
    const place = await newPlace();
    const { requestId } = await submit(cost(place));
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, i) =>
        (i % 2 === 0 ? app : other).admin.send(op.CorrectCostDocument, {
          input: correction(place, requestId, { deltaUsdMicros: -300 }),
        }),
      ),
    );
    expect(answers.filter(({ data }) => data?.correctCost)).toHaveLength(3);
    const refusal = await refusalOf(correction(place, requestId, { deltaUsdMicros: -101 }));
    expect(refusal?.extensions.code).toBe('BAD_USER_INPUT');
    expect(refusal?.message).toContain('is 100 micro-dollars');
    await correct(correction(place, requestId, { deltaUsdMicros: 50 }));
    await correct(correction(place, requestId, { deltaUsdMicros: -150 }));
    expect(await exact(place)).toMatchObject({ costUsdMicros: 0, requests: 1 });
  });

  it('is refused after the 20th, after 30 days, and for a cost that does not exist', async () => {
    const place = await newPlace();
    const { requestId } = await submit(cost(place));
    for (let i = 0; i < 20; i++) await correct(correction(place, requestId, { deltaUsdMicros: 1 }));
    expect((await refusalOf(correction(place, requestId)))?.message).toContain('the maximum is 20');
    expect((await entryOf(place, requestId))?.corrections).toHaveLength(20);
    for (const change of [{ requestId: randomUUID() }, { appId: 'web' }, { appId: 'Not an id' }])
      expect((await refusalOf({ ...correction(place, requestId), ...change }))?.extensions.code).toBe('NOT_FOUND');
    const late = await submit(cost(place));
    const first = correction(place, late.requestId);
    await correct(first);
    app.clock.advance(30 * dayMs + 1);
    expect((await refusalOf(correction(place, late.requestId)))?.message).toContain('30 days');
    expect((await correct(first)).replayed).toBe(true);
  });

  it('of a closed day is in EXACT figures at once, and in totals and history after the next round', async () => {
    const place = await newPlace();
    const { requestId, day } = await submit(cost(place));
    await submit(cost(place, { modelLabel: 'standard' }));
    await worker.spend.sumAll();
    app.clock.advance(4 * dayMs);
    await worker.spend.sumAll();
    await correct(correction(place, requestId, { deltaUsdMicros: -400 }));
    await correct(correction(place, requestId, { deltaUsdMicros: 25 }));
    expect((await exact(place, day)).costUsdMicros).toBe(1625);
    expect((await spendOf(place, 'AGGREGATED', day)).costUsdMicros).toBe(2000);
    app.clock.advance(60_000);
    await worker.spend.sumAll();
    const { store } = app.gateway.services;
    expect(await store.get(shardTable, dirtyKey(place.orgId, day), { consistent: true })).toBeUndefined();
    expect((await exact(place, day)).costUsdMicros).toBe(1625);
    expect((await spendOf(place, 'AGGREGATED', day)).costUsdMicros).toBe(1625);
    const { org } = await app.admin.ask(op.OrgHistoryDocument, { orgId: place.orgId, from: day, to: day });
    expect(org?.spendHistory).toMatchObject([{ costUsdMicros: 1625, requests: 2 }]);
  });

  it('changes every counter that the cost was added to', async () => {
    const place = await newPlace({ ...inUtc, quotaScope: 'ORG', attributeApps: true, dimensions: ['user'] });
    const input = cost(place, { dimensions: [{ name: 'user', value: 'ann' }] });
    const { requestId, day } = await submit(input);
    await correct(correction(place, requestId, { deltaUsdMicros: -300 }));
    await correct(correction(place, requestId, { deltaUsdMicros: 10 }));
    const { store } = app.gateway.services;
    const stored = await store.get('cost_requests', { PK: `ORG#${place.orgId}#APP#chat#REQ#${requestId}` });
    const { shard } = stampOf(stored as Item);
    const { hour } = toCostRecord(stored as Item);
    const id = { orgId: place.orgId, label: 'premium', day };
    const items = await store.getMany(
      shardTable,
      [
        shardKey(id, shard),
        shardKey({ ...id, appId: 'chat' }, shard),
        dimensionShardKey(
          { orgId: place.orgId, name: 'user', day, shard },
          { value: 'ann', appId: 'chat', label: 'premium' },
        ),
      ],
      { consistent: true },
    );
    const figures = {
      cost_usd_micros: 1000,
      requests: 1,
      debit_usd_micros: 10,
      credit_usd_micros: 300,
      corrections: 2,
    };
    const hours = { [`h${hour}`]: 710, [`n${hour}`]: 1 };
    expect(items).toMatchObject([{ ...figures, ...hours }, { ...figures, ...hours }, figures]);
  });

  it('decides the mode of its label and is audited with the old and the new cost', async () => {
    const place = await newPlace();
    const { requestId } = await submit(cost(place));
    const input = correction(place, requestId, { deltaUsdMicros: 9_999_000, reason: 'price was too low' });
    await correct(input);
    await worker.spend.sumAll();
    const { org } = await app.admin.ask(op.SelectionDocument, place);
    expect(org?.app?.modelSelection).toMatchObject({ label: 'standard', reason: 'QUOTA_EXCEEDED' });
    const { auditEvents } = (
      await app.admin.ask<{ org: { auditEvents: { nodes: unknown[] } } }, object>(
        `{ org(orgId: "${place.orgId}") { auditEvents(first: 1) { nodes { action entityId actor
          details { name value previousValue } } } } }`,
      )
    ).org;
    expect(auditEvents.nodes).toMatchObject([{ action: 'cost_corrected', entityId: '$APP:chat' }]);
    expect((auditEvents.nodes[0] as { details: unknown[] }).details).toEqual(
      expect.arrayContaining([
        { name: 'costUsdMicros', value: '10000000', previousValue: '1000' },
        { name: 'reason', value: 'price was too low', previousValue: null },
        { name: 'correction', value: input.correctionId, previousValue: null },
      ]),
    );
  });
});

describe('POST /export/spend', () => {
  const post = (body: object | string, caller: Caller = app.admin, init: RequestInit = {}) =>
    fetch(`${app.origin}/export/spend`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...caller.headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
      ...init,
    });
  type Row = Record<string, string | number | null>;
  const rowsOf = async (orgId: string, by: string, range: object): Promise<Row[]> => {
    const reply = await post({ orgId, by, format: 'jsonl', ...range });
    const lines = (await reply.text()).trimEnd().split('\n');
    const rows = lines.map((line) => JSON.parse(line) as Row);
    expect([reply.status, rows.pop()]).toEqual([200, { end: true, rows: rows.length }]);
    const csv = (await (await post({ orgId, by, format: 'csv', ...range })).text()).split('\r\n');
    expect([csv[0], csv.length]).toEqual([Object.keys(rows[0] ?? {}).join(','), rows.length + 2]);
    return rows;
  };
  const figures = ['costUsdMicros', 'requests', 'inputTokens', 'outputTokens'] as const;
  const sumOf = (rows: readonly Row[], day: string, names: readonly string[] = figures) =>
    names.map((name) => rows.filter((row) => row.day === day).reduce((sum, row) => sum + Number(row[name]), 0));

  it.each(['APP', 'ORG'] as const)('sums to the history under quotaScope %s, by each grouping', async (quotaScope) => {
    const place = await newPlace({ ...withLedger, quotaScope, attributeApps: true });
    await addApp(place.orgId, 'web');
    const inputs = Array.from({ length: 60 }, (_, i) =>
      cost(
        { ...place, appId: i % 3 === 0 ? 'web' : 'chat' },
        {
          occurredAt: ago(i * 20 * 60_000),
          modelLabel: i % 2 === 0 ? 'premium' : 'economy',
          costUsdMicros: 1000 + i,
          inputTokens: i,
        },
      ),
    );
    await submitAll(inputs);
    for (const { appId, requestId } of inputs.slice(0, 60).filter((_, i) => i % 10 === 0))
      await correct(correction({ ...place, appId: appId ?? 'chat' }, requestId, { deltaUsdMicros: -7 }));
    await correct(correction(place, inputs[1]?.requestId ?? '', { deltaUsdMicros: 12_345 }));
    await worker.spend.sumAll();
    const range = { from: daysAgo(1), to: today() };
    const { org } = await app.admin.ask(op.OrgHistoryDocument, { orgId: place.orgId, ...range });
    const history = org?.spendHistory ?? [];
    expect(history.reduce((sum, { costUsdMicros }) => sum + costUsdMicros, 0)).toBe(60 * 1000 + 1770 - 42 + 12_345);
    for (const by of ['label', 'app', 'hour', 'cost']) {
      const rows = await rowsOf(place.orgId, by, range);
      const names = figures.slice(0, by === 'hour' ? 2 : 4);
      for (const { day, ...total } of history) {
        // A row by cost is one request.
        const counted = by === 'cost' ? rows.map((row) => ({ ...row, requests: 1 })) : rows;
        expect([by, day, sumOf(counted, day, names)]).toEqual([by, day, names.map((name) => total[name])]);
      }
    }
    const byApp = await rowsOf(place.orgId, 'app', range);
    expect([...new Set(byApp.map(({ appId }) => appId))].sort()).toEqual(['chat', 'web']);
    const byCost = await rowsOf(place.orgId, 'cost', range);
    expect(byCost.map(({ requestId }) => requestId)).toEqual(inputs.map(({ requestId }) => requestId).reverse());
  });

  it('has a row without an app for costs from before they were counted per app', async () => {
    const place = await newPlace({ ...inUtc, quotaScope: 'ORG' });
    const { orgId } = place;
    await submit(cost(place, { costUsdMicros: 5 }));
    const range = { from: today(), to: today() };
    const refused = await post({ orgId, by: 'app', format: 'csv', ...range });
    expect([refused.status, await refused.text()]).toEqual([400, expect.stringContaining('attributeApps: true')]);
    await app.admin.ask(op.UpdateOrgDocument, { input: { orgId, attributeApps: true } });
    await submit(cost(place, { costUsdMicros: 70 }));
    await worker.spend.sumAll();
    const rows = await rowsOf(orgId, 'app', range);
    expect(rows.map(({ appId, costUsdMicros, requests }) => [appId, costUsdMicros, requests])).toEqual([
      ['chat', 70, 1],
      [null, 5, 1],
    ]);
  });

  it('is sent as a file, to clients of the org and to the admin only', async () => {
    const org = await newOrg(app, withLedger);
    const client = await newApp(app, org);
    const body = { by: 'label', format: 'csv', from: today(), to: today() };
    const reply = await post(body, org.caller);
    expect([reply.status, await reply.text()]).toEqual([200, expect.stringMatching(/^day,label,.*\r\n$/)]);
    expect(reply.headers.get('content-type')).toBe('text/csv; charset=utf-8; header=present');
    expect(reply.headers.get('content-disposition')).toBe(
      `attachment; filename="spend-by-label-${today()}-${today()}.csv"`,
    );
    const foreign = await newOrg(app);
    const outcomes: [Caller, object | string, number, string][] = [
      [app.anonymous, body, 401, 'UNAUTHENTICATED'],
      [client.caller, body, 403, 'FORBIDDEN'],
      [org.caller, { ...body, orgId: foreign.orgId }, 404, 'NOT_FOUND'],
      [app.admin, { ...body, orgId: randomUUID() }, 404, 'NOT_FOUND'],
      [app.admin, body, 400, 'orgId'],
      [org.caller, { ...body, by: 'cost', from: daysAgo(31) }, 400, 'the maximum of 31'],
      [org.caller, { ...body, to: daysAgo(-1) }, 400, 'is in the future'],
      [org.caller, { ...body, format: 'xml' }, 400, 'must be one of csv, jsonl'],
      [org.caller, '[]', 400, 'must be a JSON object'],
      [foreign.caller, { ...body, by: 'cost' }, 400, 'the ledger of this org is off'],
    ];
    for (const [caller, sent, status, text] of outcomes) {
      const refused = await post(sent, caller);
      expect([refused.status, await refused.text()]).toEqual([status, expect.stringContaining(text)]);
    }
    expect((await post(body, org.caller, { method: 'PUT' })).status).toBe(405);
  });

  it('is not sent as CSV over HTTP/1.0, where a part would look complete', async () => {
    const { orgId } = await newOrg(app);
    const statusOf = (format: string) =>
      new Promise<string>((resolve, reject) => {
        const { hostname, port } = new URL(app.origin);
        const socket = connect(Number(port), hostname);
        const body = JSON.stringify({ orgId, by: 'label', format, from: today(), to: today() });
        let text = '';
        socket.on('data', (chunk) => {
          text += chunk.toString();
        });
        socket.on('end', () => resolve(text.split('\r\n')[0] ?? '')).on('error', reject);
        const headers = { 'content-type': 'application/json', 'content-length': body.length, ...app.admin.headers };
        const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
        socket.write(`POST /export/spend HTTP/1.0\r\n${lines.join('\r\n')}\r\n\r\n${body}`);
      });
    expect(await statusOf('csv')).toContain(' 505 ');
    expect(await statusOf('jsonl')).toContain(' 200 ');
  });
});
