import { type Clock, unlessAborted } from './clock.js';
import * as documents from './documents.js';
import { BadInput, QuotaExceeded, RateLimited, TollgateError, Unavailable } from './errors.js';
import { MeteredCall } from './metered-call.js';
import type { UnavailableDecision, UndecidedCall } from './options.js';
import type { Settler } from './settler.js';
import type { Transport } from './transport.js';
import type {
  Admission,
  AdmitRequest,
  Binding,
  CostInput,
  CostReceipt,
  LimitStatus,
  MeterContext,
  Metered,
  ModelSelection,
  OpenCall,
  Scope,
} from './types.js';
import { admitInput, costInput } from './wire.js';

export interface SpendDeps {
  readonly transport: Transport;
  readonly settler: Settler;
  readonly clock: Clock;
  decide(call: UndecidedCall, error: TollgateError): Promise<UnavailableDecision>;
  /** Reports a failure that no caller waits for. */
  failed(operation: string, error: unknown): void;
}

type Decision =
  | ({ readonly __typename: 'Admitted' } & Admission)
  | {
      readonly __typename: 'Denied';
      readonly binding: Binding;
      readonly retryAt: string | null;
      readonly statuses: readonly LimitStatus[];
    };

/** Meters what model calls cost: admitted before, settled after, each counted once. */
export class Spend {
  readonly #deps: SpendDeps;
  /** For calls that are let through while Tollgate is unavailable. */
  #lastModel: { readonly label: string; readonly modelId: string } | undefined;

  constructor(deps: SpendDeps) {
    this.#deps = deps;
  }

  /**
   * Makes a call if quotas, budgets and rate limits have room for it, and records its cost. Throws `QuotaExceeded` or
   * `RateLimited` before the call is made. A call that fails is settled by what is known.
   */
  async meter<T>(request: AdmitRequest, call: (context: MeterContext) => Promise<Metered<T>>): Promise<T> {
    const open = await this.#open(request);
    const { signal } = request;
    if (signal?.aborted) {
      await open.cancel();
      throw signal.reason;
    }
    let metered: Metered<T>;
    try {
      this.#deps.settler.start(open.requestId);
      metered = await call({ ...open, signal, report: (usage) => open.report(usage) });
    } catch (error) {
      await open.fail();
      throw error;
    }
    const { value, usage, ...rest } = metered;
    await open.settle({ ...rest, ...usage });
    return value;
  }

  /** Admits a call that the caller settles itself, for example when a stream has ended. Prefer `meter`. */
  async admit(request: AdmitRequest): Promise<OpenCall> {
    const open = await this.#open(request);
    this.#deps.settler.start(open.requestId);
    return open;
  }

  async #open(request: AdmitRequest): Promise<OpenCall> {
    const requestId = request.requestId ?? crypto.randomUUID();
    const { signal } = request;
    signal?.throwIfAborted();
    await this.#deps.settler.open();
    const admission = await unlessAborted(this.#admission(request, requestId), signal, (late) => this.#giveBack(late));
    const call = new MeteredCall(this.#deps, request, admission);
    try {
      await call.begin();
    } catch (error) {
      // Of a request id that is in use, the admission belongs to the other call.
      if (!(error instanceof BadInput)) void this.#giveBack(admission);
      throw error;
    }
    return call;
  }

  /** Records the cost of a call that was not admitted. Costs submitted at the same time share a request. */
  async submit(cost: CostInput): Promise<CostReceipt> {
    const id = cost.requestId ?? crypto.randomUUID();
    return this.#deps.settler.submit({
      id,
      startedAtMs: this.#deps.clock.nowMs(),
      mutation: { kind: 'submit', input: costInput(cost, id) },
    });
  }

  /** The model to use now, without a reservation. `appId` is required for a client of an org. */
  async select({ orgId, appId, signal }: Scope & { readonly signal?: AbortSignal } = {}): Promise<ModelSelection> {
    interface Holder {
      readonly app: { readonly modelSelection: ModelSelection } | null;
    }
    const { me, org } = await this.#deps.transport.send<{ readonly me?: Holder; readonly org?: Holder | null }>({
      document: appId === undefined ? documents.selectOwn : documents.select,
      variables: { orgId, appId },
      signal,
    });
    const app = (me ?? org)?.app;
    if (!app) throw new TollgateError('NOT_FOUND', 'app not found');
    return app.modelSelection;
  }

  async #giveBack({ admissionId }: Admission): Promise<void> {
    if (admissionId === undefined) return;
    const { transport, failed } = this.#deps;
    const variables = { admissionId };
    await transport
      .send({ document: documents.cancel, variables })
      .catch((error: unknown) => failed('CancelAdmission', error));
  }

  async #admission(request: AdmitRequest, requestId: string): Promise<Admission> {
    try {
      const { admit } = await this.#deps.transport.send<{ readonly admit: Decision }>({
        document: documents.admit,
        variables: { input: admitInput(request, requestId) },
        waitMs: request.waitMs,
      });
      if (admit.__typename === 'Denied') throw refusalOf(admit, this.#deps.clock.nowMs());
      const { __typename: _, ...admission } = admit;
      this.#lastModel = admission;
      return admission;
    } catch (error) {
      if (!(error instanceof Unavailable)) throw error;
      const decision = await this.#deps.decide({ kind: 'admit', request }, error);
      const model = decision === 'allow' ? this.#lastModel : decision;
      if (model === undefined || model === 'throw') throw error;
      const { label, modelId } = model;
      return {
        requestId,
        label,
        modelId,
        reservedUsdMicros: 0,
        statuses: [],
        chain: [],
        replayed: false,
        degraded: true,
      };
    }
  }
}

function refusalOf(denied: Extract<Decision, { readonly __typename: 'Denied' }>, nowMs: number): TollgateError {
  const { binding, retryAt, statuses } = denied;
  const { kind, name, missing, wouldPass } = binding;
  const isLimit = kind === 'LIMIT';
  const resetsAt = retryAt === null ? undefined : new Date(retryAt);
  const retryAfterMs = resetsAt && Math.max(0, resetsAt.getTime() - nowMs);
  const details = { binding, retryAfterMs };
  const quota = { ...details, resetsAt };
  const unit = isLimit ? 'tokens' : 'micro-dollars';
  const message = `the ${kind.toLowerCase()} "${name}" lacks ${missing} ${unit}; ${wouldPass} would pass`;
  return isLimit
    ? new RateLimited(message, { ...details, statuses })
    : new QuotaExceeded('QUOTA_EXCEEDED', message, quota);
}
