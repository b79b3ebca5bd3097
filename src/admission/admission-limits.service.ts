import { badInput, GatewayError, type Issue } from '../lib/errors.js';
import type { Log } from '../lib/log.js';
import type { Lease } from '../limits/grant.service.js';
import { holdsSlots, type LeaseHandle } from '../limits/lease.js';
import type { LeaseService } from '../limits/lease.service.js';
import { decodeHandle, encodeHandle } from '../limits/lease-codec.js';
import { adjustIssues } from '../limits/lease-operation.js';
import type { LimitService } from '../limits/limit.service.js';
import { consumeIssues } from '../limits/limit-input.js';
import type { LimitStatus, RateLimited } from '../limits/status.js';
import { issueOfAdmit, type LimitNeed, type LimitUse } from './admission-limits.js';

/** The tokens that a call has taken. */
export interface TakenLimits {
  readonly kind: 'taken';
  /** One per need, as stored with the call. */
  readonly leases: readonly string[];
  readonly statuses: readonly LimitStatus[];
  readonly degraded: boolean;
}

export interface AdmissionLimitDeps {
  readonly limits: LimitService;
  readonly leases: LeaseService;
  readonly log: Log;
}

/** The rate limits of an admitted call. */
export class AdmissionLimits {
  constructor(private readonly deps: AdmissionLimitDeps) {}

  /** Takes the tokens of all needs or of none. */
  async take(orgId: string, needs: readonly LimitNeed[], ttlSecs: number): Promise<TakenLimits | RateLimited> {
    const [first, ...others] = needs.map((need) => ({ ...need, ttlSecs }));
    if (!first) return { kind: 'taken', leases: [], statuses: [], degraded: false };
    const { limits } = this.deps;
    const acquiring = others.length === 0 ? limits.acquire(orgId, first) : limits.acquireAll(orgId, [first, ...others]);
    const result = await acquiring.catch((error: unknown) => {
      const issues = error instanceof GatewayError ? error.extensions.issues : undefined;
      throw issues ? badInput(...(issues as readonly Issue[]).map(issueOfAdmit)) : error;
    });
    if (result.kind === 'RateLimited') return result;
    const leases = result.kind === 'Lease' ? [result] : result.leases;
    return {
      kind: 'taken',
      leases: leases.map((lease) => this.textOf(lease)),
      statuses: leases.flatMap(({ statuses }) => statuses),
      degraded: leases.some(({ degraded }) => degraded),
    };
  }

  /** Gives all tokens back, as if the call had never been. */
  async giveBack(leases: readonly string[]): Promise<void> {
    await this.each(leases, (handle) => this.deps.leases.release('', handle));
  }

  /** The issues of the actual amounts of a call. */
  useIssues(leases: readonly string[], uses: readonly LimitUse[]): Issue[] {
    const handles = leases.map(decodeHandle);
    return uses.flatMap((use, i) => {
      const path = `input.adjust.${i}`;
      const handle = handles.find((each) => isOf(each, use));
      const isTwice = uses.findIndex((each) => isOf(each, use)) < i;
      if (!handle || isTwice)
        return [{ path, message: `must be a limit that was sent to \`admit\`${isTwice ? ', each once' : ''}` }];
      if (use.consumed.length === 0) return [{ path: `${path}.consumed`, message: 'must name at least one limit' }];
      return [
        ...consumeIssues(use.consumed, `${path}.consumed`),
        ...adjustIssues(handle.holdings, use.consumed).map((issue) => ({
          ...issue,
          path: issue.path.replace('input.adjust', `${path}.consumed`),
        })),
      ];
    });
  }

  /** Charges the amounts that were used and frees the slots. Idempotent by the id of the call. */
  async finish(leases: readonly string[], uses: readonly LimitUse[], requestId: string): Promise<void> {
    await this.each(leases, (handle) => {
      const used = uses.find((use) => isOf(handle, use))?.consumed ?? [];
      return this.deps.leases.finish(handle, used, requestId);
    });
  }

  /** Keeps the slots of concurrency limits for longer. */
  async renew(leases: readonly string[], ttlSecs: number): Promise<void> {
    for (const handle of leases.map(decodeHandle))
      if (holdsSlots(handle.holdings)) await this.deps.leases.renew('', handle, ttlSecs);
  }

  private textOf({ leaseId }: Lease): string {
    const handle = this.deps.leases.open(leaseId);
    if (!handle) throw new Error('a lease id that was just made cannot be opened');
    return encodeHandle(handle);
  }

  /** A lease that has expired, was released or purged needs nothing more. */
  private async each(leases: readonly string[], change: (handle: LeaseHandle) => Promise<unknown>): Promise<void> {
    await Promise.all(
      leases.map(async (text) => {
        const handle = decodeHandle(text);
        if (handle.degraded) return;
        try {
          await change(handle);
        } catch (error) {
          const isOver = error instanceof GatewayError && ['LEASE_EXPIRED', 'NOT_FOUND'].includes(error.code);
          if (!isOver) throw error;
          this.deps.log.debug({ err: error }, 'the lease of a call was over before the call');
        }
      }),
    );
  }
}

const isOf = (
  { entityId, resource }: Pick<LimitNeed, 'entityId' | 'resource'>,
  other: Pick<LimitNeed, 'entityId' | 'resource'>,
): boolean => entityId === other.entityId && resource === other.resource;
