import { randomUUID } from 'node:crypto';
import { sleep } from '../../../src/lib/timers.js';
import { Caller, newApp, newOrg, type TestApp } from '../../support/app.js';
import type { Chance } from '../../support/chance.js';
import * as op from '../../support/operations.js';
import type { Facts } from './checks.js';
import { type ClientDeps, HistoryClient, untilKnown } from './client.js';
import type { Act, Entry, SentReading } from './history.js';

const labels = ['premium', 'standard'] as const;
/** Only costs of this label are corrected, so that the totals of the other one must never decrease. */
const correctedLabel = 'standard';
const spendByHour = `query ($appId: String!, $label: String!, $day: LocalDate!) { org { app(appId: $appId) {
  spend(day: $day) { labels { label costUsdMicros } }
  spendSeries(from: $day, to: $day, step: HOUR, label: $label) { costUsdMicros unattributedUsdMicros }
} } }`;
const resource = 'api';
const limit = 'tokens';
/** So small that even a slow machine requests more. */
const busy = { burst: 5, perSecond: 4 };
const devicesPerTenant = 2;

export interface Tenant {
  readonly name: string;
  readonly orgId: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** Clients with the credentials of the org, of its app and of its fleet. */
  readonly org: HistoryClient;
  readonly app: HistoryClient;
  readonly fleet: HistoryClient;
  readonly admin: HistoryClient;
}

/** A unique text that is valid in every text field. */
export const newCanary = (): string => `canary_${randomUUID().replaceAll('-', '').slice(0, 20)}`;

/** Two tenants that differ only in their canaries, which are in every text that a tenant can choose. */
export async function newTenants(
  app: TestApp,
  deps: ClientDeps,
  adminKey: string,
  timezone: string,
): Promise<Tenant[]> {
  const tenants: Tenant[] = [];
  for (const [name, canary] of Object.entries(deps.canaries)) {
    const org = await newOrg(app, { name: `Org ${canary}`, timezone });
    const chat = await newApp(app, org, 'chat', { name: `Chat ${canary}` });
    const { createApiKey } = await app.admin.ask(op.CreateApiKeyDocument, {
      input: { orgId: org.orgId, description: canary },
    });
    const device = new Caller(app.url, { 'x-api-key': createApiKey.secret });
    for (let i = 0; i < devicesPerTenant; i++)
      await device.ask(op.RegisterDeviceDocument, {
        input: { hardwareId: deviceOf(i), bootId, firmwareVersion: '1.0.0', capabilities: { sensors: [canary] } },
      });
    const set = (entityId: string, input: op.LimitInput) =>
      app.admin.ask(op.SetLimitsDocument, {
        input: { orgId: org.orgId, level: 'ENTITY', entityId, resource, limits: [input] },
      });
    await set('busy', { name: limit, capacity: busy.burst, refillAmount: busy.perSecond, refillPeriodSecs: 1 });
    await set('ledger', { name: limit, capacity: 1_000_000_000, refillPeriodSecs: 1_000_000 });
    const client = (who: string, headers: Record<string, string>) =>
      new HistoryClient(deps, name, { name: `${who} of ${name}`, headers });
    tenants.push({
      name,
      orgId: org.orgId,
      clientId: org.clientId,
      clientSecret: org.clientSecret,
      org: client('org', { authorization: `Bearer ${org.accessToken}` }),
      app: client('app', { authorization: `Bearer ${chat.accessToken}` }),
      fleet: client('fleet', { 'x-api-key': createApiKey.secret }),
      // The admin may read all tenants, so its responses are not checked for canaries.
      admin: new HistoryClient({ ...deps, canaries: {} }, 'admin', {
        name: 'admin',
        headers: { 'x-admin-key': adminKey },
      }),
    });
  }
  return tenants;
}

/** The facts about this load that the checks need. */
export const factsOf = (tenants: readonly Tenant[]): Pick<Facts, 'limits' | 'saturated'> => {
  const saturated = tenants.map(({ name }) => `${name}/busy`);
  return { saturated, limits: Object.fromEntries(saturated.map((bucket) => [bucket, busy])) };
};

const scopeOf = ({ name }: Tenant, label: string): string => `${name}/chat/${label}`;

/** A mixed load of all three parts on all gateways. Its clients retry until the outcome is known. */
export class Load {
  private isOver = false;
  private giveUpMs = Number.POSITIVE_INFINITY;
  private readonly actors: Promise<void>[] = [];
  /** Secrets that were issued. None of them may be logged or stored. */
  readonly secrets: string[] = [];

  constructor(
    private readonly tenants: readonly Tenant[],
    private readonly gateways: number,
    private readonly chance: Chance,
    /** The time that the worker has at the end to sum the last costs. */
    private readonly totalMs = 60_000,
  ) {}

  start(): void {
    const each = (count: number, actor: (tenant: Tenant, chance: Chance) => Promise<void>) => {
      for (const tenant of this.tenants)
        for (let i = 0; i < count; i++) this.actors.push(this.repeat(actor, tenant, this.chance.fork()));
    };
    each(2, (tenant, chance) => this.submitCosts(tenant, chance));
    each(3, (tenant, chance) => this.acquireBusy(tenant, chance));
    each(1, (tenant, chance) => this.useLease(tenant, chance));
    each(2, (tenant, chance) => this.ingest(tenant, chance));
    each(1, (tenant, chance) => this.readSpend(tenant, chance));
    each(1, (tenant, chance) => this.useSession(tenant, chance));
  }

  /** Ends the load, retries calls with an unknown outcome until it is known, and reads everything once more. */
  async settle(withinMs: number): Promise<number> {
    this.isOver = true;
    this.giveUpMs = Date.now() + withinMs;
    await Promise.all(this.actors);
    const settledMs = Date.now();
    for (const tenant of this.tenants) await this.readAll(tenant);
    return settledMs;
  }

  private async repeat(
    actor: (tenant: Tenant, chance: Chance) => Promise<void>,
    tenant: Tenant,
    chance: Chance,
  ): Promise<void> {
    while (!this.isOver) await actor(tenant, chance);
  }

  private untilKnown(chance: Chance, attempt: (via: number) => Promise<Entry>): Promise<Entry> {
    return untilKnown({ chance, gateways: this.gateways, giveUpMs: () => this.giveUpMs }, attempt);
  }

  private async submitCosts(tenant: Tenant, chance: Chance): Promise<void> {
    const label = chance.one(labels);
    const act: Act = {
      kind: 'cost',
      scope: scopeOf(tenant, label),
      requestId: randomUUID(),
      micros: chance.between(1, 1000),
    };
    const { requestId, micros: costUsdMicros } = act;
    const input = { requestId, modelLabel: label, inputTokens: 1, outputTokens: 1, costUsdMicros };
    const submit = (via: number) => tenant.app.call(via, act, op.SubmitCostDocument, { input }, () => ({}));
    const { outcome } = await this.untilKnown(chance, submit);
    // Some clients retry a call that has succeeded.
    if (chance.fraction() < 0.1) await submit(chance.below(this.gateways));
    if (outcome === 'ok' && label === correctedLabel && chance.hit(0.4)) await this.correct(tenant, chance, act);
    await sleep(chance.between(5, 40));
  }

  private async correct(tenant: Tenant, chance: Chance, cost: Extract<Act, { kind: 'cost' }>): Promise<void> {
    const { scope, requestId } = cost;
    const micros = chance.hit(0.5) ? chance.between(1, 500) : -chance.between(1, cost.micros);
    const act: Act = { kind: 'correction', scope, correctionId: randomUUID(), micros };
    const { correctionId } = act;
    const input = { appId: 'chat', requestId, correctionId, deltaUsdMicros: micros, reason: 'load' };
    const send = (via: number) => tenant.org.call(via, act, op.CorrectCostDocument, { input }, () => ({}));
    await this.untilKnown(chance, send);
    if (chance.hit(0.3)) await send(chance.below(this.gateways));
  }

  /** Requests more than the bucket has. */
  private async acquireBusy(tenant: Tenant, chance: Chance): Promise<void> {
    const act: Act = { kind: 'acquire', bucket: `${tenant.name}/busy`, amount: 1, requestId: randomUUID() };
    const { outcome, data } = await this.acquire(tenant, chance.below(this.gateways), act, undefined);
    if (outcome !== 'ok' || !data.granted) await sleep(chance.between(10, 30));
  }

  private acquire(
    { org }: Tenant,
    via: number,
    act: Extract<Act, { kind: 'acquire' }>,
    requestId: string | undefined,
  ): Promise<Entry> {
    const entityId = act.bucket.split('/')[1] as string;
    const input = { entityId, resource, consume: [{ limit, amount: act.amount }], ...(requestId ? { requestId } : {}) };
    return org.call(via, act, op.AcquireDocument, { input }, ({ acquire }) =>
      acquire.__typename === 'Lease' ? { granted: true, leaseId: acquire.leaseId } : { granted: false },
    );
  }

  /** Acquires, sometimes adjusts and sometimes releases. Each must be applied once, however often it is retried. */
  private async useLease(tenant: Tenant, chance: Chance): Promise<void> {
    const bucket = `${tenant.name}/ledger`;
    const requestId = randomUUID();
    let amount = chance.between(1, 9);
    const { data } = await this.untilKnown(chance, (via) =>
      this.acquire(tenant, via, { kind: 'acquire', bucket, amount, requestId }, requestId),
    );
    const { leaseId } = data;
    if (leaseId === undefined) return;
    if (chance.fraction() < 0.5) {
      const act: Act = { kind: 'adjust', bucket, leaseId, amount: chance.between(1, 5), key: randomUUID() };
      const input = { leaseId, adjust: [{ limit, amount: act.amount }], idempotencyKey: act.key };
      await this.untilKnown(chance, (via) =>
        tenant.org.call(via, act, op.AdjustLeaseDocument, { input }, ({ adjustLease }) => ({
          replayed: adjustLease.replayed,
        })),
      );
      amount += act.amount;
    }
    if (chance.fraction() < 0.5) {
      const act: Act = { kind: 'release', bucket, leaseId, amount };
      const release = (via: number) =>
        tenant.org.call(via, act, op.ReleaseLeaseDocument, { leaseId }, ({ releaseLease }) => ({
          replayed: releaseLease.replayed,
        }));
      await this.untilKnown(chance, release);
      if (chance.fraction() < 0.5) await release(chance.below(this.gateways));
    }
    await sleep(chance.between(20, 60));
  }

  private async ingest({ name, fleet }: Tenant, chance: Chance): Promise<void> {
    const readings: SentReading[] = Array.from({ length: chance.between(1, 4) }, () => ({
      device: `${name}/${deviceOf(chance.below(devicesPerTenant))}`,
      batchId: randomUUID(),
      value: chance.between(0, 5000) / 100,
    }));
    const timestampMs = Date.now() - chance.between(0, 1000);
    const input = {
      readings: readings.map(({ device, batchId, value }) => ({
        hardwareId: device.slice(name.length + 1),
        batchId,
        timestampMs,
        bootId,
        firmwareVersion: '1.0.0',
        sensors: { bme280TempC: value },
        sensorStatus: {},
      })),
    };
    for (;;) {
      const { outcome, data } = await this.untilKnown(chance, (via) =>
        fleet.call(via, { kind: 'ingest', readings }, op.IngestDocument, { input }, ({ ingest }) => ({
          verdicts: ingest.verdicts.map(({ kind }) => kind),
        })),
      );
      if (outcome !== 'ok' || !data.verdicts?.includes('RETRY') || Date.now() > this.giveUpMs) break;
      await sleep(chance.between(50, 400));
    }
    await sleep(chance.between(10, 60));
  }

  private async readSpend(tenant: Tenant, chance: Chance): Promise<void> {
    const label = chance.one(labels);
    await this.readTotals(tenant, chance.below(this.gateways), chance.one(['shards', 'total'] as const), label);
    await sleep(chance.between(20, 100));
  }

  private readTotals(tenant: Tenant, via: number, kind: 'shards' | 'total', label: string): Promise<Entry> {
    const variables = { appId: 'chat', consistency: kind === 'shards' ? ('EXACT' as const) : ('AGGREGATED' as const) };
    return tenant.org.call(via, { kind, scope: scopeOf(tenant, label) }, op.AppSpendDocument, variables, ({ org }) => ({
      ...(org?.app ? { day: org.app.spend.day } : {}),
      micros: org?.app?.spend.labels.find((one) => one.label === label)?.costUsdMicros ?? 0,
    }));
  }

  private readHours(tenant: Tenant, via: number, label: string, day: string): Promise<Entry> {
    const variables = { appId: 'chat', label, day };
    const act: Act = { kind: 'hours', scope: scopeOf(tenant, label) };
    return tenant.org.call<SpendByHour, object>(via, act, spendByHour, variables, ({ org: { app } }) => ({
      micros: app.spend.labels.find((one) => one.label === label)?.costUsdMicros ?? 0,
      hourMicros: app.spendSeries.reduce((sum, hour) => sum + hour.costUsdMicros + hour.unattributedUsdMicros, 0),
    }));
  }

  /** Logs in, refreshes, rotates a secret and revokes the session. Refresh and retrieval are sent twice at once. */
  private async useSession(tenant: Tenant, chance: Chance): Promise<void> {
    const { org, clientId, clientSecret } = tenant;
    const via = () => chance.below(this.gateways);
    let pair: { readonly accessToken: string; readonly refreshToken: string } | undefined;
    await org.call(
      via(),
      { kind: 'other' },
      op.IssueTokenDocument,
      { input: { clientId, clientSecret } },
      ({ issueToken }) => {
        pair = issueToken;
        return {};
      },
    );
    if (!pair) return sleep(500);
    this.secrets.push(pair.accessToken, pair.refreshToken);
    const session = org.with({
      name: `session ${randomUUID()}`,
      headers: { authorization: `Bearer ${pair.accessToken}` },
    });
    const me = (gateway = via()) => session.call(gateway, { kind: 'other' }, op.MeDocument, {}, () => ({}));
    await me();

    const { refreshToken } = pair;
    const refresh = () =>
      org.call(
        via(),
        { kind: 'refresh', token: nameOf(refreshToken) },
        op.RefreshTokenDocument,
        { refreshToken },
        ({ refreshToken: next }) => {
          this.secrets.push(next.accessToken, next.refreshToken);
          return { successor: next.refreshToken };
        },
      );
    await Promise.all([refresh(), refresh()]);

    let retrieval: string | undefined;
    await org.call(
      via(),
      { kind: 'other' },
      op.RotateCredentialsDocument,
      { input: { appId: 'chat' } },
      ({ rotateCredentials }) => {
        retrieval = rotateCredentials.secretRetrieval.token;
        return {};
      },
    );
    if (retrieval !== undefined) {
      const token = retrieval;
      this.secrets.push(token);
      const retrieve = () =>
        org.call(
          via(),
          { kind: 'retrieve', token: nameOf(token) },
          op.RetrieveSecretDocument,
          { token },
          ({ retrieveSecret }) => {
            this.secrets.push(retrieveSecret.clientSecret);
            return { secret: retrieveSecret.clientId };
          },
        );
      await Promise.all([retrieve(), retrieve()]);
      await retrieve();
    }

    await this.untilKnown(chance, (gateway) =>
      org.call(
        gateway,
        { kind: 'revoke', credential: session.credential.name },
        op.RevokeTokenDocument,
        { token: pair?.accessToken ?? '' },
        () => ({}),
      ),
    );
    for (let i = 0; i < 12 && !this.isOver; i++) {
      await sleep(chance.between(200, 300));
      await me(i % this.gateways);
    }
  }

  private async readAll(tenant: Tenant): Promise<void> {
    const { name, org, admin, orgId } = tenant;
    for (const label of labels) {
      const shards = await this.untilKnown(this.chance, (via) => this.readTotals(tenant, via, 'shards', label));
      // The worker has to sum the last costs first.
      for (const untilMs = Date.now() + this.totalMs; Date.now() < untilMs; await sleep(200)) {
        const total = await this.untilKnown(this.chance, (via) => this.readTotals(tenant, via, 'total', label));
        if (total.data.micros === shards.data.micros) break;
      }
      await this.untilKnown(this.chance, (via) => this.readHours(tenant, via, label, shards.data.day ?? ''));
    }
    await this.untilKnown(this.chance, (via) =>
      org.call(
        via,
        { kind: 'consumed', bucket: `${name}/ledger` },
        op.BucketOfDocument,
        { entityId: 'ledger', resource },
        (found) => ({
          consumed: found.org?.entity?.bucket?.limits[0]?.totalConsumed ?? 0,
        }),
      ),
    );
    for (let i = 0; i < devicesPerTenant; i++) {
      const hardwareId = deviceOf(i);
      const stored: { batchId: string; value: number }[] = [];
      for (let after: string | null = null, more = true; more; ) {
        const position: { after: string | null } = { after };
        // The entry of the last page contains all readings.
        const { outcome } = await this.untilKnown(this.chance, (via) =>
          admin.call(
            via,
            { kind: 'readings', device: `${name}/${hardwareId}` },
            op.ReadingsOfDocument,
            { orgId, hardwareId, first: 500, ...position },
            (found) => {
              const page = found.org?.device?.readings;
              stored.push(
                ...(page?.nodes ?? []).map(({ batchId, sensors }) => ({
                  batchId,
                  value: sensors.bme280TempC as number,
                })),
              );
              more = page?.pageInfo.hasNextPage ?? false;
              after = page?.pageInfo.endCursor ?? null;
              return { stored: [...stored] };
            },
          ),
        );
        if (outcome !== 'ok') break;
      }
    }
  }
}

interface SpendByHour {
  readonly org: {
    readonly app: {
      readonly spend: { readonly labels: readonly { readonly label: string; readonly costUsdMicros: number }[] };
      readonly spendSeries: readonly { readonly costUsdMicros: number; readonly unattributedUsdMicros: number }[];
    };
  };
}

const bootId = randomUUID();
const deviceOf = (i: number): string => `AA:BB:CC:DD:EE:0${i}`;
/** A prefix that identifies a secret without revealing it. */
const nameOf = (secret: string): string => secret.slice(0, 12);
