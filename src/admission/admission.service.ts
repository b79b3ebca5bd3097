import type { Clock } from '../lib/clock.js';
import { GatewayError, refuseAny } from '../lib/errors.js';
import type { Metrics } from '../lib/metrics.js';
import { scopeKey } from '../orgs/scope.js';
import type { App } from '../orgs/settings.js';
import type { PriceService } from '../spend/catalog/price.service.js';
import type { Reservation, ReservationService, StoredRequest } from '../spend/held/reservation.service.js';
import type { SelectionReader } from '../spend/spend-reader.js';
import { appSubject } from '../spend/subject.js';
import type { Admission, Admitted, Denied } from './admission.js';
import { type AdmitRequest, admitHashOf, admitIssues, limitBinding } from './admission-input.js';
import type { AdmissionLimits, TakenLimits } from './admission-limits.service.js';
import type { AdmissionMoney, Candidate, PricedCall } from './admission-money.service.js';
import type { AdmittedCalls } from './admitted-call.service.js';
import { type LabelRefusal, mildest } from './money-decision.js';
import type { WaitingLine } from './waiting-line.js';

export interface AdmissionDeps {
  readonly money: AdmissionMoney;
  readonly limits: AdmissionLimits;
  readonly calls: AdmittedCalls;
  readonly reservations: ReservationService;
  readonly prices: PriceService;
  readonly line: WaitingLine;
  readonly clock: Clock;
  readonly metrics: Metrics;
}

/** The request that a call came with. */
export interface AdmitContext {
  readonly loaders: SelectionReader;
  isGone?(): boolean;
}

/** A call that is being decided. */
interface Pending extends PricedCall {
  readonly request: AdmitRequest;
  readonly hash: string;
  readonly reader: SelectionReader;
}

type AdmitVerdict = Admission | { readonly kind: 'known'; readonly stored: StoredRequest };

/** Decides if model calls may be made. */
export class AdmissionService {
  constructor(private readonly deps: AdmissionDeps) {}

  /**
   * Takes the tokens of rate limits, then reserves money on the first label that fits; if none does, the tokens are
   * given back. Idempotent by the request id until the call is settled or cancelled.
   */
  async admit(app: App, request: AdmitRequest, context: AdmitContext): Promise<Admission> {
    refuseAny(admitIssues(request));
    const { money, line, metrics } = this.deps;
    const hash = admitHashOf(app.appId, request);
    const decide = async () => {
      const call = await money.price(app, request.estimate, request.labels);
      return this.decide({ ...call, request, hash, reader: context.loaders });
    };
    const { waitMs } = request;
    const scope = scopeKey(appSubject(app).scope);
    const isFirst = waitMs === 0 || !line.isBusy(scope);
    const first = isFirst ? await decide() : undefined;
    const patience = { waitMs, isGone: () => context.isGone?.() ?? false };
    const result =
      first && (waitMs === 0 || first.kind === 'Admitted')
        ? first
        : await line.wait(scope, patience, decide, ({ kind }) => kind === 'Admitted');
    metrics.admissions.inc({ outcome: outcomeOf(result) });
    return result;
  }

  private async decide(call: Pending): Promise<Admission> {
    const { app, request } = call;
    const ref = { orgId: app.orgId, appId: app.appId, requestId: request.requestId };
    const known = this.knownDenial(call);
    if (known && !this.deps.calls.isRemembered(ref)) return known;
    const verdict = await this.verdict(call);
    if (verdict.kind === 'known') return this.replay(call, verdict.stored);
    if (verdict.kind === 'Admitted') return verdict;
    // An earlier attempt may have been admitted when there was more, and its response may have been lost.
    const stored = await this.deps.calls.read(ref);
    return stored ? this.replay(call, stored) : verdict;
  }

  /** The denial that is certain without a call to the database, because all labels refused the same a moment ago. */
  private knownDenial(call: Pending): Denied | undefined {
    const refusals = call.candidates.map((candidate) => this.deps.money.knownRefusal(call, candidate));
    const known = refusals.filter((refusal) => refusal !== undefined);
    return known.length === refusals.length ? denied(call, mildest(known)) : undefined;
  }

  private async verdict(call: Pending): Promise<AdmitVerdict> {
    const { limits } = this.deps;
    const { app, request } = call;
    const taken = await limits.take(app.orgId, request.limits ?? [], request.ttlSecs);
    if (taken.kind === 'RateLimited') {
      const retryAt = new Date(this.deps.clock.nowMs() + taken.retryAfterSecs * 1000);
      const { subject, day } = call;
      return { kind: 'Denied', binding: limitBinding(taken), retryAt, statuses: taken.statuses, subject, day };
    }
    // If this throws, the reservation may have been stored with these tokens, so they are not given back: they are lost
    // until they refill, and never granted twice.
    const verdict = await this.reserve(call, taken);
    if (verdict.kind !== 'Admitted') await limits.giveBack(taken.leases);
    return verdict;
  }

  /** Reserves on the first label that fits. */
  private async reserve(call: Pending, taken: TakenLimits): Promise<AdmitVerdict> {
    const { money } = this.deps;
    const selected = await money.selected(call, call.reader);
    if (selected && 'binding' in selected) return denied(call, selected, taken);
    const refusals: LabelRefusal[] = [];
    let isDegraded = taken.degraded;
    for (const candidate of selected ? [selected] : await money.inOrder(call, call.reader)) {
      const { refusal, degraded } = selected ? notJudged : await money.advisory(call, candidate, call.reader);
      isDegraded ||= degraded;
      const verdict = refusal ?? (await this.tryLabel(call, candidate, { ...taken, degraded: isDegraded }));
      if ('kind' in verdict) return verdict;
      refusals.push(verdict);
    }
    return denied(call, mildest(refusals), taken);
  }

  /** The refusal of the label if its bounds do not allow the amount. */
  private async tryLabel(
    call: Pending,
    candidate: Candidate,
    taken: TakenLimits,
  ): Promise<AdmitVerdict | LabelRefusal> {
    const { reservations, money, calls } = this.deps;
    const { app, request, hash, day } = call;
    const { label, limits, estimate } = candidate;
    if (money.isTooLarge(call, candidate)) return money.refusal(call, candidate, await reservations.look(limits));
    const outcome = await reservations.reserve({
      orgId: app.orgId,
      appId: app.appId,
      requestId: request.requestId,
      label,
      day,
      amountUsdMicros: limits.length > 0 ? estimate.amountUsdMicros : 0,
      limits,
      admitHash: hash,
      leases: taken.leases,
      ...(estimate.input ? { input: estimate.input } : {}),
      ttlMs: request.ttlSecs * 1000,
    });
    if (outcome.kind === 'known') return outcome;
    if (outcome.kind === 'denied') return money.refusal(call, candidate, outcome.images);
    calls.remember(outcome.reservation);
    return this.admitted(call, outcome.reservation, taken);
  }
  private async admitted(call: Pending, reservation: Reservation, taken?: TakenLimits): Promise<Admitted> {
    const { prices, calls } = this.deps;
    const { app, subject } = call;
    const { label, requestId, amountUsdMicros, expiresAtMs, day } = reservation;
    const model = prices.catalog.get(label);
    return {
      kind: 'Admitted',
      admissionId: calls.idOf(reservation),
      requestId,
      label,
      modelId: model?.modelId ?? '',
      ...(model ? { price: await prices.at(model, this.deps.clock.nowMs(), app.orgId) } : {}),
      reservedUsdMicros: amountUsdMicros,
      expiresAt: new Date(expiresAtMs),
      statuses: taken?.statuses ?? [],
      replayed: taken === undefined,
      degraded: taken?.degraded ?? false,
      subject,
      day,
    };
  }

  /** The answer to a retry: the first admission, as long as it can be used. */
  private replay(call: Pending, stored: StoredRequest): Promise<Admitted> {
    const first = stored.state === 'RESERVED' ? stored.reservation : stored;
    if (first.admitHash !== call.hash) throw conflict();
    if (stored.state !== 'RESERVED') throw over();
    if (stored.reservation.expiresAtMs <= this.deps.clock.nowMs()) throw over();
    return this.admitted(call, stored.reservation);
  }
}

/** A selection has judged the label already. */
const notJudged = { refusal: undefined, degraded: false };

const outcomeOf = (result: Admission): string =>
  result.kind === 'Denied' ? 'denied' : result.replayed ? 'replayed' : 'admitted';

const denied = ({ subject, day }: Pending, refusal: LabelRefusal | undefined, taken?: TakenLimits): Denied => {
  if (!refusal) throw new Error('a denial without a refusal');
  const { binding, retryAtMs } = refusal;
  return {
    kind: 'Denied',
    binding,
    ...(retryAtMs === undefined ? {} : { retryAt: new Date(retryAtMs) }),
    statuses: taken?.statuses ?? [],
    subject,
    day,
  };
};

const conflict = () =>
  new GatewayError(
    'IDEMPOTENCY_CONFLICT',
    'this requestId was already used with another input; nothing was reserved; use a new requestId',
  );

const over = () =>
  new GatewayError(
    'LEASE_EXPIRED',
    'the call of this requestId was settled or cancelled, or its reservation has expired; use a new requestId',
  );
