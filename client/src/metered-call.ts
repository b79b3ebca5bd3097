import * as documents from './documents.js';
import type { CostMutation, OutboxEntry } from './outbox.js';
import { priceable } from './priceable.js';
import { keepRenewed } from './renewal.js';
import type { SpendDeps } from './spend.js';
import type {
  Admission,
  AdmitRequest,
  LabelSpend,
  LimitStatus,
  ModelPrice,
  OpenCall,
  Settlement,
  Usage,
} from './types.js';
import { costInput, inputOf, settleInput, wholeOf } from './wire.js';

const defaultTtlSecs = 120;

/** A call from its admission to its settlement. Its entry is in the outbox all the time. */
export class MeteredCall implements OpenCall {
  declare readonly requestId: string;
  declare readonly admissionId?: string;
  declare readonly label: string;
  declare readonly modelId: string;
  declare readonly price?: ModelPrice | null;
  declare readonly reservedUsdMicros: number;
  declare readonly statuses: readonly LimitStatus[];
  declare readonly chain: readonly LabelSpend[];
  declare readonly replayed: boolean;
  declare readonly degraded: boolean;
  readonly #deps: SpendDeps;
  readonly #request: AdmitRequest;
  readonly #startedAtMs: number;
  readonly #ended = new AbortController();
  #reported: Usage | undefined;
  #end: Promise<void> | undefined;

  constructor(deps: SpendDeps, request: AdmitRequest, admission: Admission) {
    Object.assign(this, admission);
    this.#deps = deps;
    this.#request = request;
    this.#startedAtMs = deps.clock.nowMs();
  }

  /** Stores the call durably, as one that used all of its estimate if the process dies. */
  async begin(): Promise<void> {
    await this.#deps.settler.begin({ ...this.#entry(wholeOf(this.#request.estimate)), isRunning: true });
    this.#renew();
  }

  report(usage: Usage): void {
    this.#reported = usage;
  }

  settle(settlement: Settlement): Promise<void> {
    return this.#finish(() => this.#entry(priceable(settlement, this.price)));
  }

  fail(): Promise<void> {
    const known = this.#reported && { ...this.#reported, status: 'ERROR' as const, estimated: true };
    return this.settle(known ?? inputOf(this.#request.estimate));
  }

  cancel(): Promise<void> {
    const { admissionId } = this;
    if (admissionId === undefined) return this.settle({ status: 'ERROR' });
    return this.#finish(() => ({ ...this.#entry({}), mutation: { kind: 'cancel', admissionId } }));
  }

  #finish(entry: () => OutboxEntry): Promise<void> {
    this.#ended.abort();
    this.#end ??= this.#deps.settler.end(entry());
    return this.#end;
  }

  #entry(settlement: Settlement): OutboxEntry {
    const { requestId: id, admissionId, label: modelLabel } = this;
    const { orgId, appId, dimensions } = this.#request;
    const mutation: CostMutation =
      admissionId === undefined
        ? { kind: 'submit', input: costInput({ orgId, appId, ...settlement, modelLabel, dimensions }, id) }
        : { kind: 'settle', input: settleInput(admissionId, settlement, dimensions) };
    return { id, startedAtMs: this.#startedAtMs, mutation };
  }

  /** Keeps the reservation while the call runs. A call that outlives it is still settled, as an overrun. */
  #renew(): void {
    const { admissionId } = this;
    if (admissionId === undefined) return;
    const { signal } = this.#ended;
    const { ttlSecs = defaultTtlSecs } = this.#request;
    const variables = { admissionId, ttlSecs };
    void keepRenewed(this.#deps, { ttlSecs, signal }, () =>
      this.#deps.transport.send({ document: documents.renewAdmission, variables, signal }),
    );
  }
}
