import { type Clock, systemClock } from './clock.js';
import type { QuotaAlert, ReadingInput } from './event-types.js';
import type { AdmitInput, SettleInput, SubmitInput } from './testing/inputs.js';
import { type AcquireInput, TestLimits } from './testing/limits.js';
import { Refusal, refuse } from './testing/refusal.js';
import { type RecordedCost, type TestModel, TestSpend } from './testing/spend.js';
import { Tollgate, type TollgateOptions } from './tollgate.js';
import { nameOf } from './transport.js';
import type { LimitInput } from './types.js';

export type { RecordedCost, TestModel } from './testing/spend.js';

export interface TestTollgateOptions extends Omit<TollgateOptions, 'url' | 'fetch'> {
  /** The chain of the app. Default: one model, `test`, without a quota. */
  readonly models?: readonly TestModel[] | undefined;
  /** The limits of each entity, by resource. Resources without limits grant everything. */
  readonly limits?: Readonly<Record<string, readonly LimitInput[]>> | undefined;
  /** Data of other operations, by the name of the operation. */
  readonly operations?: Readonly<Record<string, (variables: Variables) => object | Promise<object>>> | undefined;
}

type Variables = Readonly<Record<string, unknown>>;
type Handler = (variables: Variables) => object | Promise<object>;

/** A Tollgate in memory, and a real client of it. For tests of code that uses the client. */
export class TestTollgate {
  /** The client to hand to the code under test. */
  readonly tollgate: Tollgate;
  readonly #clock: Clock;
  readonly #limits: TestLimits;
  readonly #spend: TestSpend;
  readonly #readings = new Map<string, ReadingInput>();
  readonly #alerts: QuotaAlert[] = [];
  readonly #listeners = new Set<() => void>();
  readonly #streams = new Set<() => void>();
  readonly #handlers: Readonly<Record<string, Handler>>;
  #outage = 0;

  constructor({ models = [{ label: 'test' }], limits = {}, operations = {}, ...options }: TestTollgateOptions = {}) {
    this.#clock = options.clock ?? systemClock;
    this.#limits = new TestLimits(this.#clock);
    this.#spend = new TestSpend(this.#clock, this.#limits, models);
    for (const [resource, list] of Object.entries(limits)) this.#limits.set(resource, list);
    this.#handlers = { ...this.#own(), ...operations };
    const url = 'http://tollgate.test/graphql';
    this.tollgate = new Tollgate({ ...options, url, fetch: (_, init) => this.#respond(init ?? {}) });
  }

  /** Costs that were counted, in order. Call `tollgate.flush()` first. */
  get costs(): readonly RecordedCost[] {
    return this.#spend.costs;
  }

  /** Calls that were admitted and are not settled. */
  get openCalls(): number {
    return this.#spend.openCalls;
  }

  get readings(): readonly ReadingInput[] {
    return [...this.#readings.values()];
  }

  /** Tokens that an entity could take now. */
  available(entityId: string, resource: string): Readonly<Record<string, number>> {
    return this.#limits.available(entityId, resource);
  }

  setLimits(resource: string, limits: readonly LimitInput[]): void {
    this.#limits.set(resource, limits);
  }

  /** Makes the next `requests` fail as if the gateway were down. `Infinity` until called with 0. */
  goDown(requests = Number.POSITIVE_INFINITY): void {
    this.#outage = requests;
  }

  /** Sends an alert to all subscribers, and to those that resume before it. */
  raise(alert: Partial<QuotaAlert>): void {
    const cursor = String(this.#alerts.length + 1);
    this.#alerts.push({ ...anyAlert, raisedAt: new Date(this.#clock.nowMs()).toISOString(), ...alert, cursor });
    for (const listener of this.#listeners) listener();
  }

  /** Ends the streams of all subscribers, as a restart of the gateway does. */
  disconnect(): void {
    for (const end of [...this.#streams]) end();
  }

  async #respond({ body, headers, signal }: RequestInit): Promise<Response> {
    if (this.#outage > 0) {
      this.#outage--;
      throw Object.assign(new TypeError('fetch failed'), { cause: { code: 'ECONNREFUSED' } });
    }
    const { query, variables = {} } = JSON.parse(String(body)) as { query: string; variables?: Variables };
    const name = nameOf(query);
    const wantsEvents = new Headers(headers).get('accept') === 'text/event-stream';
    if (wantsEvents && name === 'Alerts') return this.#stream(variables, signal ?? undefined);
    try {
      const handler = this.#handlers[name] ?? refuse('BAD_USER_INPUT', `operations: has no handler for ${name}`);
      return json({ data: await handler(variables) });
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      const { code, message, details } = error;
      return json({ errors: [{ message, extensions: { ...details, code, requestId: 'test' } }] });
    }
  }

  #own(): Record<string, Handler> {
    const [limits, spend] = [this.#limits, this.#spend];
    const input = <T>({ input }: Variables) => input as T;
    const text = (value: unknown) => value as string;
    return {
      Login: () => ({ issueToken: { accessToken: 'test', expiresInSecs: 3600 } }),
      Admit: (variables) => ({ admit: spend.admit(input<AdmitInput>(variables)) }),
      Settle: (variables) => ({ settle: spend.settle(input<SettleInput>(variables)) }),
      CancelAdmission: ({ admissionId }) => ({ cancelAdmission: spend.cancel(text(admissionId)) }),
      RenewAdmission: ({ admissionId }) => ({ renewAdmission: spend.renew(text(admissionId)) }),
      SubmitCosts: ({ inputs }) => ({ submitCosts: spend.submit(inputs as readonly SubmitInput[]) }),
      SelectOwn: () => ({ me: { app: { modelSelection: spend.selection() } } }),
      Select: () => ({ org: { app: { modelSelection: spend.selection() } } }),
      Acquire: (variables) => ({ acquire: limits.acquire(input<AcquireInput>(variables)) }),
      AdjustLease: (variables) => {
        type Adjustment = { leaseId: string; adjust: AcquireInput['consume']; idempotencyKey?: string };
        const { leaseId, adjust, idempotencyKey } = input<Adjustment>(variables);
        return { adjustLease: limits.adjust(leaseId, adjust, idempotencyKey) };
      },
      ReleaseLease: ({ leaseId }) => ({ releaseLease: limits.release(text(leaseId)) }),
      RenewLease: ({ leaseId, ttlSecs }) => ({ renewLease: limits.renew(text(leaseId), ttlSecs as number) }),
      Ingest: (variables) => ({
        ingest: this.#ingest(input<{ readings: readonly ReadingInput[] }>(variables).readings),
      }),
    };
  }

  #ingest(readings: readonly ReadingInput[]): object {
    const verdicts = readings.map((reading, index) => {
      const key = JSON.stringify([reading.hardwareId, reading.batchId]);
      const known = this.#readings.get(key);
      if (!known) this.#readings.set(key, reading);
      const isSame = JSON.stringify(known) === JSON.stringify(reading);
      return {
        index,
        batchId: reading.batchId,
        kind: known ? (isSame ? 'DUPLICATE' : 'CONFLICT') : 'STORED',
        error: null,
      };
    });
    return { verdicts };
  }

  #stream({ after, kinds }: Variables, signal: AbortSignal | undefined): Response {
    let next = after === undefined ? this.#alerts.length : Number(after);
    const encoder = new TextEncoder();
    let stop = () => {};
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        const send = () => {
          for (; next < this.#alerts.length; next++) {
            const quotaAlerts = this.#alerts[next] as QuotaAlert;
            if (Array.isArray(kinds) && !kinds.includes(quotaAlerts.kind)) continue;
            const data = JSON.stringify({ data: { quotaAlerts } });
            controller.enqueue(encoder.encode(`event: next\ndata: ${data}\nid: ${quotaAlerts.cursor}\n\n`));
          }
        };
        const end = () => {
          stop();
          controller.close();
        };
        stop = () => {
          this.#listeners.delete(send);
          this.#streams.delete(end);
        };
        signal?.addEventListener('abort', () => {
          if (this.#streams.has(end)) controller.error(signal.reason);
          stop();
        });
        this.#streams.add(end);
        this.#listeners.add(send);
        send();
      },
      cancel: () => stop(),
    });
    return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
  }
}

const json = (body: object): Response =>
  new Response(JSON.stringify(body), { headers: { 'content-type': 'application/json' } });

const anyAlert = {
  kind: 'QUOTA_EXCEEDED',
  orgId: '00000000-0000-4000-8000-000000000000',
  appId: null,
  label: 'test',
  activeLabel: null,
  day: '2026-01-01',
  costUsdMicros: 0,
  quotaUsdMicros: 0,
  quotaPct: 0,
  thresholdPct: 95,
  budget: null,
} as const;
