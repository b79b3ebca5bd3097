import type { Viewer } from '../identity/viewer.js';
import type { Clock } from '../lib/clock.js';
import { GatewayError, notFound, refuseAny } from '../lib/errors.js';
import { sha256 } from '../lib/id.js';
import type { App, AppRef } from '../orgs/settings.js';
import type { PriceService } from '../spend/catalog/price.service.js';
import { admissionGone } from '../spend/held/gone.js';
import type { RequestRef, Reservation, ReservationService, StoredRequest } from '../spend/held/reservation.service.js';
import type { CostPayload } from '../spend/payload-hash.js';
import type { CostReceipt, CostSubmission, SpendService } from '../spend/spend.service.js';
import { appSubject } from '../spend/subject.js';
import type { Admitted } from './admission.js';
import { ttlSecsIssues } from './admission-input.js';
import type { LimitUse } from './admission-limits.js';
import type { AdmissionLimits } from './admission-limits.service.js';
import type { AdmittedCalls } from './admitted-call.service.js';

/** The usage of an admitted call. */
export interface CallReport extends Omit<CostPayload, 'modelLabel' | 'callStatus' | 'occurredAt'> {
  readonly admissionId: string;
  readonly callStatus: CostSubmission['callStatus'];
  readonly adjust?: readonly LimitUse[] | null | undefined;
}

export interface SettlementDeps {
  readonly calls: AdmittedCalls;
  readonly limits: AdmissionLimits;
  readonly spend: SpendService;
  readonly reservations: ReservationService;
  readonly prices: PriceService;
  readonly clock: Clock;
}

/** The apps of a request. */
export interface AppReader {
  app(ref: AppRef): Promise<App | undefined>;
}

const maxLifeMs = 3_600_000;
const maxRenewals = 3;
const cancelHash = sha256('cancelled');

/** Settles, cancels and renews admitted calls. */
export class SettlementService {
  constructor(private readonly deps: SettlementDeps) {}

  /**
   * Records the cost, then adjusts the rate leases. Both are idempotent, so that a retry resumes where the first
   * attempt stopped.
   */
  async settle(viewer: Viewer, { admissionId, adjust, ...usage }: CallReport, reader: AppReader): Promise<CostReceipt> {
    const { call, ref, app } = await this.open(viewer, admissionId, reader);
    const leases = leasesOf(call);
    refuseAny(this.deps.limits.useIssues(leases, adjust ?? []));
    const receipt = await this.record(app, call, { ...usage, requestId: ref.requestId, modelLabel: labelOf(call) });
    await this.deps.limits.finish(leases, adjust ?? [], ref.requestId);
    return receipt;
  }

  /**
   * Ends a call without its usage. If it was sent, the price of its input is recorded. Otherwise it costs nothing, and
   * its tokens are given back.
   */
  async cancel(
    viewer: Viewer,
    { admissionId, sent }: { readonly admissionId: string; readonly sent: boolean },
    reader: AppReader,
  ): Promise<CostReceipt> {
    const { call, ref, app } = await this.open(viewer, admissionId, reader);
    const { limits } = this.deps;
    if (sent) {
      const usage = { ...sentUsage(call), outputTokens: 0, callStatus: 'ERROR' as const, estimated: true };
      const receipt = await this.record(app, call, { ...usage, requestId: ref.requestId, modelLabel: labelOf(call) });
      await limits.finish(leasesOf(call), [], ref.requestId);
      return receipt;
    }
    const receipt = await this.cancelled(app, ref, call);
    await limits.giveBack(leasesOf(call));
    return receipt;
  }

  /** Extends a reservation by `ttlSecs` from now, up to one hour after it was made. */
  async renew(
    viewer: Viewer,
    { admissionId, ttlSecs }: { readonly admissionId: string; readonly ttlSecs: number },
    reader: AppReader,
  ): Promise<Admitted> {
    refuseAny(ttlSecsIssues(ttlSecs, 'ttlSecs'));
    const { call, ref, app } = await this.open(viewer, admissionId, reader);
    const { calls, reservations, clock } = this.deps;
    let stored: StoredRequest | undefined = call;
    for (let attempt = 0; attempt < maxRenewals && stored?.state === 'RESERVED'; attempt++) {
      const { reservation } = stored;
      const nowMs = clock.nowMs();
      const untilMs = Math.min(nowMs + ttlSecs * 1000, reservation.reservedAtMs + maxLifeMs);
      if (untilMs <= nowMs) throw tooOld();
      const renewed = await reservations.renew(reservation, Math.max(untilMs, reservation.expiresAtMs));
      if (renewed) {
        calls.remember(renewed);
        await this.deps.limits.renew(renewed.leases, ttlSecs);
        return this.admitted(app, renewed);
      }
      // Another call has changed it, or it was returned: then the stored one is the same, and the next attempt fails.
      calls.forget(ref);
      stored = await calls.read(ref);
    }
    throw expired();
  }

  private async open(viewer: Viewer, admissionId: string, reader: AppReader) {
    const { calls } = this.deps;
    const ref = calls.open(viewer, admissionId);
    const [app, call] = await Promise.all([reader.app(ref), calls.load(ref)]);
    if (!app) throw notFound('admission');
    if (!call) throw admissionGone();
    return { ref, app, call };
  }

  /** Records the cost of the call, or returns the receipt of an earlier attempt. */
  private async record(app: App, call: StoredRequest, submission: CostSubmission): Promise<CostReceipt> {
    const { spend, calls } = this.deps;
    const ref = { orgId: app.orgId, appId: app.appId, requestId: submission.requestId };
    const receipt =
      call.state === 'RESERVED'
        ? await spend.settle(app, call.reservation, submission)
        : await spend.submitCost(app, submission);
    calls.forget(ref);
    return receipt;
  }

  private async cancelled(app: App, ref: RequestRef, call: StoredRequest): Promise<CostReceipt> {
    const { reservations, calls } = this.deps;
    const outcome =
      call.state === 'RESERVED'
        ? await reservations.cancel(call.reservation, cancelHash)
        : { kind: call.state === 'CANCELLED' ? ('cancelled' as const) : ('conflict' as const), replayed: true };
    if (outcome.kind === 'gone') throw admissionGone();
    if (outcome.kind !== 'cancelled') throw alreadySettled();
    calls.forget(ref);
    const { requestId } = ref;
    const [label, day] =
      call.state === 'RESERVED' ? [call.reservation.label, call.reservation.day] : [call.label, call.day];
    const { replayed } = outcome;
    const nothing = { costUsdMicros: 0, priceSource: 'SUBMITTED' as const, estimated: false, lines: () => [] };
    return { requestId, replayed, label, day, ...nothing, app };
  }

  private async admitted(app: App, reservation: Reservation): Promise<Admitted> {
    const { prices, calls, clock } = this.deps;
    const { label, requestId, amountUsdMicros, expiresAtMs, day } = reservation;
    const model = prices.catalog.get(label);
    return {
      kind: 'Admitted',
      admissionId: calls.idOf(reservation),
      requestId,
      label,
      modelId: model?.modelId ?? '',
      ...(model ? { price: await prices.at(model, clock.nowMs(), app.orgId) } : {}),
      reservedUsdMicros: amountUsdMicros,
      expiresAt: new Date(expiresAtMs),
      statuses: [],
      replayed: false,
      degraded: false,
      subject: appSubject(app),
      day,
    };
  }
}

const leasesOf = (call: StoredRequest): readonly string[] =>
  call.state === 'RESERVED' ? call.reservation.leases : call.leases;

const labelOf = (call: StoredRequest): string => (call.state === 'RESERVED' ? call.reservation.label : call.label);

/** What a call costs that was sent and whose usage is not known. That of a recorded one is in its record. */
function sentUsage(call: StoredRequest): { readonly inputTokens: number; readonly costUsdMicros: number } {
  if (call.state === 'RESERVED') {
    const { input, amountUsdMicros } = call.reservation;
    return { inputTokens: input?.tokens ?? 0, costUsdMicros: input?.costUsdMicros ?? amountUsdMicros };
  }
  if (call.state === 'CANCELLED') return { inputTokens: 0, costUsdMicros: 0 };
  const { inputTokens, costUsdMicros } = call.record.usage;
  return { inputTokens, costUsdMicros };
}

const alreadySettled = () =>
  new GatewayError('IDEMPOTENCY_CONFLICT', 'this call was already settled; its cost stays recorded');
const expired = () => new GatewayError('LEASE_EXPIRED', 'the reservation was returned or settled; admit a new call');
const tooOld = () => new GatewayError('LEASE_EXPIRED', 'a reservation lasts at most one hour; admit a new call');
