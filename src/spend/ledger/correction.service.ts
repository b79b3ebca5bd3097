import type { AuditService } from '../../audit/audit.service.js';
import { type Actor, appEntity } from '../../audit/audit-event.js';
import { type Clock, epochSeconds } from '../../lib/clock.js';
import { badInput, GatewayError, notFound, refuseAny, unavailable } from '../../lib/errors.js';
import { newUuid, sha256 } from '../../lib/id.js';
import type { Scope } from '../../orgs/scope.js';
import { appIdIssues, type Org } from '../../orgs/settings.js';
import type { StoredCorrection } from './correction.item.js';
import {
  type Correction,
  type CorrectionRequest,
  correctableIssues,
  correctionIssues,
  maxCorrectionDays,
  mayBeClosed,
} from './correction.js';
import type { CorrectionDraft, CorrectionStore } from './correction.store.js';
import type { DirtyDayStore } from './dirty-day.store.js';
import type { LedgerStore } from './ledger.store.js';
import { netUsdMicros, type RecordedCost } from './recorded-cost.item.js';

const maxAttempts = 10;

export interface CorrectionDeps {
  readonly ledger: LedgerStore;
  readonly corrections: CorrectionStore;
  readonly dirtyDays: DirtyDayStore;
  readonly audit: AuditService;
  readonly clock: Clock;
  readonly shardDays: number;
}

export interface CorrectionReceipt {
  readonly correction: Correction;
  /** True if it was stored before. */
  readonly replayed: boolean;
}

/** Corrects recorded costs: credits and debits that count on the day and hour of the call. */
export class CorrectionService {
  constructor(private readonly deps: CorrectionDeps) {}

  /**
   * Counts a correction once per `correctionId` of a cost. A retry returns the first one. A retry with another payload
   * is an IDEMPOTENCY_CONFLICT.
   */
  async correct(org: Org, request: CorrectionRequest, actor: Actor): Promise<CorrectionReceipt> {
    refuseAny(correctionIssues(request));
    const { ledger, corrections, clock, shardDays } = this.deps;
    const { appId, requestId, correctionId, deltaUsdMicros } = request;
    const ref = { orgId: org.orgId, appId, requestId };
    const payloadHash = sha256(JSON.stringify([deltaUsdMicros, request.reason]));
    for (let attempt = 0; attempt < maxAttempts; attempt++) {
      const cost = appIdIssues(appId).length > 0 ? undefined : await ledger.load(ref);
      if (!cost) throw notFound('cost');
      if (cost.correctionIds.includes(correctionId)) {
        const [first] = await corrections.loadMany([{ ref, correctionId }]);
        if (first) return replayOf(first, payloadHash);
      }
      const nowMs = clock.nowMs();
      refuseAny(correctableIssues(stateOf(cost), deltaUsdMicros, nowMs, shardDays));
      const draft = this.draft(org, cost, request, { actor, payloadHash, nowMs });
      const outcome = await corrections.apply(draft);
      if (outcome.kind === 'stored') return { correction: draft.stored.correction, replayed: false };
      if (outcome.kind === 'known') return replayOf(outcome.first, payloadHash);
      if (outcome.kind === 'gone') throw countersExpired();
    }
    throw unavailable('this cost is being corrected by several callers at the same time; nothing was changed; retry');
  }

  private draft(
    org: Org,
    cost: RecordedCost,
    { correctionId, deltaUsdMicros, reason, requestId, appId }: CorrectionRequest,
    { actor, payloadHash, nowMs }: { readonly actor: Actor; readonly payloadHash: string; readonly nowMs: number },
  ): CorrectionDraft {
    const { orgId } = org;
    const { day, label } = cost.record;
    const correction = { correctionId, deltaUsdMicros, reason, correctedAt: new Date(nowMs) };
    const before = netUsdMicros(cost);
    const audit = this.deps.audit.draft({
      orgId,
      actor,
      action: 'cost_corrected',
      entityId: appEntity(appId),
      details: { request: requestId, correction: correctionId, label, day, deltaUsdMicros, reason },
      changes: [{ name: 'costUsdMicros', value: String(before + deltaUsdMicros), previousValue: String(before) }],
    });
    const nowSecs = epochSeconds(nowMs);
    const expiresAtSecs = nowSecs + this.deps.shardDays * 86_400;
    const scope: Scope = org.quotaScope === 'ORG' ? { orgId } : { orgId, appId };
    return {
      cost,
      scope,
      stored: { correction, payloadHash, nonce: newUuid() },
      nowSecs,
      expiresAtSecs,
      ...(mayBeClosed(day, nowMs) ? { dirtyMark: this.deps.dirtyDays.draft(orgId, day, expiresAtSecs) } : {}),
      audit,
    };
  }
}

const stateOf = ({ record, deltaUsdMicros, correctionIds }: RecordedCost) => ({
  costUsdMicros: record.usage.costUsdMicros,
  deltaUsdMicros,
  corrections: correctionIds.length,
  day: record.day,
  occurredAtMs: record.occurredAtMs,
});

function replayOf({ correction, payloadHash: first }: StoredCorrection, payloadHash: string): CorrectionReceipt {
  if (first !== payloadHash)
    throw new GatewayError(
      'IDEMPOTENCY_CONFLICT',
      'this correctionId was already used for this cost with another payload; nothing was changed',
    );
  return { correction, replayed: true };
}

const countersExpired = () =>
  badInput({
    path: 'input.requestId',
    message: `the counters of this cost have expired; a cost can be corrected for ${maxCorrectionDays} days`,
  });
