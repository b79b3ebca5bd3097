import { backoffMs, type Clock, unlessAborted } from './clock.js';
import * as documents from './documents.js';
import { BadInput, errorOf, TollgateError } from './errors.js';
import { Gate, Gather } from './gather.js';
import type { Hooks } from './options.js';
import type { Outbox, OutboxEntry } from './outbox.js';
import { notify, type Transport } from './transport.js';
import type { CostReceipt } from './types.js';

export interface SettlerDeps {
  readonly outbox: Outbox;
  readonly transport: Transport;
  readonly clock: Clock;
  readonly hooks: Hooks;
}

interface Outcome {
  readonly receipt: CostReceipt | null;
  readonly error: { readonly code: string; readonly message: string } | null;
}

/** Older entries could be counted under a wrong day, so they are left to a person. */
const maxAgeMs = 24 * 3_600_000;
const maxSettlesAtOnce = 16;
/** Rounds are this many times further apart than attempts: up to a minute. */
const roundFactor = 12;
/** No later attempt can succeed. Other errors may be mended by an operator, such as a revoked credential. */
const finalCodes = [
  'BAD_USER_INPUT',
  'INVALID_MODEL_LABEL',
  'IDEMPOTENCY_CONFLICT',
  'NOT_FOUND',
  'LEASE_EXPIRED',
  'OUTBOX_EXPIRED',
];

const isFinal = (error: unknown): error is TollgateError =>
  error instanceof TollgateError && finalCodes.includes(error.code);

/** Delivers the outbox: each entry is sent until it is acknowledged, refused for good, or a day old. */
export class Settler {
  readonly #deps: SettlerDeps;
  readonly #costs: Gather<object, CostReceipt>;
  readonly #gate = new Gate(maxSettlesAtOnce);
  /** One signal each, because one that many deliveries wait for makes Node.js warn of a leak. */
  readonly #deliveries = new Map<Promise<void>, AbortController>();
  readonly #ids = new Set<string>();
  #opened: Promise<void> | undefined;

  constructor(deps: SettlerDeps) {
    this.#deps = deps;
    this.#costs = new Gather({ clock: deps.clock, send: (inputs) => this.#submit(inputs) });
  }

  /** Opens the outbox and begins to send what an earlier process has left. */
  open(): Promise<void> {
    this.#opened ??= this.#deps.outbox.open().then(
      (entries) => {
        for (const entry of entries) {
          this.#ids.add(entry.id);
          this.#deliver(entry).catch(() => undefined);
        }
      },
      (error: unknown) => {
        this.#opened = undefined;
        throw error;
      },
    );
    return this.#opened;
  }

  /** Stores the entry of a call before the call is made. */
  async begin(entry: OutboxEntry): Promise<void> {
    const { outbox } = this.#deps;
    await this.open();
    if (this.#ids.has(entry.id)) throw new BadInput('BAD_USER_INPUT', `requestId: ${entry.id} is in use`);
    this.#ids.add(entry.id);
    try {
      await outbox.put(entry);
    } catch (error) {
      this.#ids.delete(entry.id);
      throw error;
    }
  }

  /** The call is made in the same turn of the event loop, so that a crash in between is unlikely. */
  start(id: string): void {
    this.#deps.outbox.start?.(id);
  }

  /** Stores the end of a call and sends it. Resolves once the cost is stored durably or was sent once. */
  async end(entry: OutboxEntry): Promise<void> {
    const { outbox } = this.#deps;
    // A full disk must not keep the cost from being sent.
    const isStored = await outbox.put(entry).then(
      () => outbox.isDurable,
      () => false,
    );
    const first = this.#deliver(entry).catch(() => undefined);
    if (!isStored) await first;
  }

  /** Stores a cost and sends it. A cost that was not refused for good stays in the outbox and is sent again. */
  async submit(entry: OutboxEntry): Promise<CostReceipt> {
    await this.begin(entry);
    return this.#deliver(entry, true);
  }

  /** Resolves once every cost of an ended call is acknowledged or dead. */
  async flush(): Promise<void> {
    await this.#opened?.catch(() => undefined);
    while (this.#deliveries.size > 0) await Promise.all(this.#deliveries.keys());
  }

  /** Waits up to `waitMs` for the costs of ended calls. The others stay in the outbox. */
  async close(waitMs: number): Promise<void> {
    const timer = new AbortController();
    const wait = this.#deps.clock.sleep(waitMs, timer.signal).catch(() => undefined);
    await Promise.race([this.flush(), wait]);
    for (const stop of [timer, ...this.#deliveries.values()]) stop.abort();
    await this.flush();
    if (this.#opened) await this.#deps.outbox.close();
  }

  /** The outcome of the first round. Later rounds go on in the background. */
  #deliver(entry: OutboxEntry, isAwaited = false): Promise<CostReceipt> {
    const stop = new AbortController();
    const first = this.#attempt(entry, stop.signal);
    const delivery = first
      .then(
        () => undefined,
        (error: unknown) => this.#repeat(entry, stop.signal, error, isAwaited),
      )
      .finally(() => this.#deliveries.delete(delivery));
    this.#deliveries.set(delivery, stop);
    return first;
  }

  async #attempt(entry: OutboxEntry, signal: AbortSignal): Promise<CostReceipt> {
    if (this.#deps.clock.nowMs() - entry.startedAtMs >= maxAgeMs)
      throw new TollgateError('OUTBOX_EXPIRED', 'older than 24 hours');
    const receipt = await unlessAborted(this.#send(entry), signal);
    await this.#forget(entry);
    notify(this.#deps.hooks, 'settled', { requestId: entry.id, receipt });
    return receipt;
  }

  async #repeat(entry: OutboxEntry, signal: AbortSignal, firstError: unknown, isAwaited: boolean): Promise<void> {
    const { clock, hooks, outbox } = this.#deps;
    let error = firstError;
    for (let round = 0; !isFinal(error); round++) {
      try {
        await clock.sleep(roundFactor * backoffMs(round, clock.random()), signal);
      } catch {
        return;
      }
      try {
        await this.#attempt(entry, signal);
        return;
      } catch (next) {
        error = next;
      }
    }
    // The caller of `submit` has the error already.
    if (isAwaited && error === firstError) return this.#forget(entry);
    await outbox.bury(entry, error).catch(() => undefined);
    this.#ids.delete(entry.id);
    notify(hooks, 'dead', { entry, error });
  }

  async #forget({ id }: OutboxEntry): Promise<void> {
    this.#ids.delete(id);
    await this.#deps.outbox.remove(id).catch(() => undefined);
  }

  async #send({ mutation }: OutboxEntry): Promise<CostReceipt> {
    const { transport } = this.#deps;
    if (mutation.kind === 'submit') return this.#costs.add(mutation.input);
    const { document, variables } =
      mutation.kind === 'settle'
        ? { document: documents.settle, variables: { input: mutation.input } }
        : { document: documents.cancel, variables: { admissionId: mutation.admissionId } };
    const data = await this.#gate.run(() =>
      transport.send<Readonly<Record<string, CostReceipt>>>({ document, variables }),
    );
    return Object.values(data)[0] as CostReceipt;
  }

  async #submit(inputs: readonly object[]): Promise<readonly (CostReceipt | Error)[]> {
    const { submitCosts } = await this.#deps.transport.send<{ readonly submitCosts: readonly Outcome[] }>({
      document: documents.submit,
      variables: { inputs },
    });
    return submitCosts.map(
      ({ receipt, error }) => receipt ?? errorOf({ message: '', ...error, extensions: { ...error } }),
    );
  }
}
