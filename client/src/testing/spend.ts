import type { Clock } from '../clock.js';
import type { Amounts, CallStatus, CostReceipt, LabelSpend, ModelPrice } from '../types.js';
import type { AdmitInput, SettleInput, SubmitInput, UsageInput } from './inputs.js';
import type { AcquireInput, TestLimits } from './limits.js';
import { refuse } from './refusal.js';

/** A model of the chain, in the order in which models are tried. */
export interface TestModel {
  readonly label: string;
  /** Default: the label. */
  readonly modelId?: string | undefined;
  /** Spend of a day after which a call is denied. Default: no bound. */
  readonly quotaUsdMicros?: number | undefined;
  /** Default: 1,000,000 micro-dollars per million tokens, which is 1 per token. */
  readonly inputUsdMicrosPer1M?: number | undefined;
  readonly outputUsdMicrosPer1M?: number | undefined;
}

/** A cost that was counted. */
export interface RecordedCost {
  readonly requestId: string;
  readonly label: string;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly components: Amounts;
  readonly costUsdMicros: number;
  readonly status: CallStatus;
  readonly estimated: boolean;
  readonly dimensions: Readonly<Record<string, string>>;
}

interface TestAdmission {
  readonly requestId: string;
  readonly model: TestModel;
  readonly reservedUsdMicros: number;
  readonly leases: readonly { readonly leaseId: string; readonly request: AcquireInput }[];
  receipt?: CostReceipt;
}

const defaultPrice = 1_000_000;
const million = 1_000_000;

/** Quotas of a day that never ends, and the costs that were counted. */
export class TestSpend {
  readonly costs: RecordedCost[] = [];
  readonly #clock: Clock;
  readonly #limits: TestLimits;
  readonly #models: readonly TestModel[];
  readonly #admissions = new Map<string, TestAdmission>();
  readonly #submitted = new Map<string, { readonly payload: string; readonly receipt: CostReceipt }>();

  constructor(clock: Clock, limits: TestLimits, models: readonly TestModel[]) {
    this.#clock = clock;
    this.#limits = limits;
    this.#models = models;
  }

  /** Calls that were admitted and are not settled. */
  get openCalls(): number {
    return [...this.#admissions.values()].filter(({ receipt }) => !receipt).length;
  }

  admit({ requestId, estimate, labels, limits = [] }: AdmitInput): object {
    const admissionId = `admission-${requestId}`;
    const known = this.#admissions.get(admissionId);
    if (known?.receipt) refuse('LEASE_EXPIRED', 'this requestId was settled');
    if (known) return this.#admitted(admissionId, known, true);
    const chain = labels ? labels.map((label) => this.#model(label)) : this.#models;
    const fits = chain.find((model) => this.#room(model) >= Math.max(1, costOf(model, estimate)));
    if (!fits) return this.#denied(chain[0] ?? refuse('BAD_USER_INPUT', 'input.labels: name a model'), estimate);
    const leases: { readonly leaseId: string; readonly request: AcquireInput }[] = [];
    for (const request of limits) {
      const taken = this.#limits.acquire(request) as { __typename: string; leaseId: string } & Refused;
      if (taken.__typename === 'RateLimited') {
        for (const { leaseId } of leases) this.#limits.release(leaseId);
        return this.#limited(taken);
      }
      leases.push({ leaseId: taken.leaseId, request });
    }
    const reservedUsdMicros = fits.quotaUsdMicros === undefined ? 0 : Math.max(1, costOf(fits, estimate));
    const admission = { requestId, model: fits, reservedUsdMicros, leases };
    this.#admissions.set(admissionId, admission);
    return this.#admitted(admissionId, admission, false);
  }

  settle(input: SettleInput): CostReceipt {
    const admission = this.#admission(input.admissionId);
    if (admission.receipt) return { ...admission.receipt, replayed: true };
    admission.receipt = this.#record(admission.requestId, admission.model, input);
    for (const { entityId, resource, consumed } of input.adjust ?? []) {
      const lease = admission.leases.find(
        ({ request }) => request.entityId === entityId && request.resource === resource,
      );
      const before = new Map(lease?.request.consume.map(({ limit, amount }) => [limit, amount]));
      const changes = consumed.map(({ limit, amount }) => ({ limit, amount: amount - (before.get(limit) ?? 0) }));
      if (lease) this.#limits.adjust(lease.leaseId, changes, input.admissionId);
    }
    return admission.receipt;
  }

  cancel(admissionId: string): CostReceipt {
    const { receipt, leases } = this.#admission(admissionId);
    if (!receipt) for (const { leaseId } of leases) this.#limits.release(leaseId);
    return this.settle({ admissionId, costUsdMicros: 0, callStatus: 'ERROR' });
  }

  renew(admissionId: string): object {
    return this.#admitted(admissionId, this.#admission(admissionId), true);
  }

  submit(inputs: readonly SubmitInput[]): readonly object[] {
    return inputs.map((input) => {
      const payload = JSON.stringify(input);
      const known = this.#submitted.get(input.requestId);
      if (known && known.payload !== payload)
        return { error: { code: 'IDEMPOTENCY_CONFLICT', message: 'this requestId was recorded with another payload' } };
      if (known) return { receipt: { ...known.receipt, replayed: true } };
      const model = this.#models.find(({ label }) => label === input.modelLabel);
      if (!model)
        return { error: { code: 'INVALID_MODEL_LABEL', message: `no model has the label ${input.modelLabel}` } };
      const receipt = this.#record(input.requestId, model, input);
      this.#submitted.set(input.requestId, { payload, receipt });
      return { receipt };
    });
  }

  selection(): object {
    const model = this.#models.find((each) => this.#room(each) > 0);
    return {
      allowed: model !== undefined,
      label: model?.label ?? null,
      bedrockModelId: model ? modelIdOf(model) : null,
      reason: model ? 'WITHIN_QUOTA' : 'ALL_QUOTAS_EXCEEDED',
      mode: model ? 'NORMAL' : 'EXCEEDED',
      budget: null,
      chain: this.#models.map((each) => this.#spendOf(each)),
      price: model ? priceOf(model) : null,
      recheckAfterSecs: 300,
      day: this.#today(),
      resetsAt: this.#tomorrow(),
    };
  }

  #record(requestId: string, model: TestModel, input: Omit<SettleInput, 'admissionId'>): CostReceipt {
    const {
      inputTokens = 0,
      outputTokens = 0,
      components = [],
      callStatus = 'OK',
      dimensions = [],
      estimated = false,
    } = input;
    const costUsdMicros = costOf(model, input);
    this.costs.push({
      requestId,
      label: model.label,
      inputTokens,
      outputTokens,
      components: Object.fromEntries(components.map(({ name, quantity }) => [name, quantity])),
      costUsdMicros,
      status: callStatus,
      estimated,
      dimensions: Object.fromEntries(dimensions.map(({ name, value }) => [name, value])),
    });
    return { requestId, replayed: false, label: model.label, day: this.#today(), costUsdMicros };
  }

  #admitted(admissionId: string, { requestId, model, reservedUsdMicros }: TestAdmission, replayed: boolean): object {
    return {
      __typename: 'Admitted',
      admissionId,
      requestId,
      label: model.label,
      modelId: modelIdOf(model),
      price: priceOf(model),
      reservedUsdMicros,
      statuses: [],
      chain: this.#models.map((each) => this.#spendOf(each)),
      replayed,
      degraded: false,
    };
  }

  #denied(model: TestModel, estimate: UsageInput): object {
    const wouldPass = Math.max(0, this.#room(model));
    const missing = Math.max(1, costOf(model, estimate)) - wouldPass;
    const binding = { kind: 'QUOTA', name: model.label, label: model.label, entityId: null, missing, wouldPass };
    return { __typename: 'Denied', binding, retryAt: this.#tomorrow(), statuses: [] };
  }

  #limited({ statuses, retryAfterSecs }: Refused): object {
    const violation = statuses.find(({ exceeded }) => exceeded);
    const { requested = 0, available = 0 } = violation ?? {};
    const binding = {
      kind: 'LIMIT',
      name: violation?.limit.name ?? '',
      label: null,
      entityId: violation?.entityId ?? null,
      missing: requested - available,
      wouldPass: Math.max(0, available),
    };
    const retryAt = new Date(this.#clock.nowMs() + retryAfterSecs * 1000).toISOString();
    return { __typename: 'Denied', binding, retryAt, statuses };
  }

  #admission(admissionId: string): TestAdmission {
    return this.#admissions.get(admissionId) ?? refuse('NOT_FOUND', 'admission not found');
  }

  #model(label: string): TestModel {
    const model = this.#models.find((each) => each.label === label);
    return model ?? refuse('INVALID_MODEL_LABEL', `no model has the label ${label}`);
  }

  /** What the quota has left: neither spent nor reserved. */
  #room({ label, quotaUsdMicros = Number.POSITIVE_INFINITY }: TestModel): number {
    const open = [...this.#admissions.values()].filter(({ model, receipt }) => model.label === label && !receipt);
    return (
      quotaUsdMicros - this.#spent(label) - open.reduce((sum, { reservedUsdMicros }) => sum + reservedUsdMicros, 0)
    );
  }

  #spent(label: string): number {
    return this.costs.filter((cost) => cost.label === label).reduce((sum, cost) => sum + cost.costUsdMicros, 0);
  }

  #spendOf({ label, quotaUsdMicros }: TestModel): LabelSpend {
    const costUsdMicros = this.#spent(label);
    return {
      label,
      costUsdMicros,
      quotaUsdMicros: quotaUsdMicros ?? null,
      quotaPct: quotaUsdMicros ? (costUsdMicros * 100) / quotaUsdMicros : null,
      mode: quotaUsdMicros !== undefined && costUsdMicros >= quotaUsdMicros ? 'EXCEEDED' : 'NORMAL',
    };
  }

  #today(): string {
    return new Date(this.#clock.nowMs()).toISOString().slice(0, 10);
  }

  #tomorrow(): string {
    return new Date(Date.parse(this.#today()) + 24 * 3_600_000).toISOString();
  }
}

interface Refused {
  readonly statuses: readonly {
    readonly entityId: string;
    readonly limit: { readonly name: string };
    readonly requested: number;
    readonly available: number;
    readonly exceeded: boolean;
  }[];
  readonly retryAfterSecs: number;
}

const modelIdOf = ({ label, modelId = label }: TestModel): string => modelId;

function priceOf({ inputUsdMicrosPer1M = defaultPrice, outputUsdMicrosPer1M = defaultPrice }: TestModel): ModelPrice {
  return { inputUsdMicrosPer1M, outputUsdMicrosPer1M, entries: [] };
}

/** The given cost, or that of the tokens, rounded up. Components cost nothing. */
function costOf(model: TestModel, usage: UsageInput): number {
  const { inputTokens = 0, outputTokens = usage.maxOutputTokens ?? 0, costUsdMicros } = usage;
  const { inputUsdMicrosPer1M, outputUsdMicrosPer1M } = priceOf(model);
  if (costUsdMicros !== undefined) return costUsdMicros;
  return Math.ceil((inputTokens * inputUsdMicrosPer1M + outputTokens * outputUsdMicrosPer1M) / million);
}
