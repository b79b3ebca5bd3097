import { type Clock, epochSeconds } from '../lib/clock.js';
import type { Log } from '../lib/log.js';
import { Lru } from '../lib/lru.js';
import type { Metrics } from '../lib/metrics.js';
import { midnightOf } from '../orgs/zone-dates.js';
import { type AlertDraft, markOf } from './alert.js';
import type { AlertStore } from './alert.store.js';

/**
 * The marker of a budget alert is stored this long after the end of its period, because a late correction may judge
 * the period again.
 */
const markerDays = 45;

export interface AlertDeps {
  readonly store: AlertStore;
  readonly clock: Clock;
  readonly metrics: Metrics;
  readonly log: Log;
  readonly retentionDays: number;
}

export class AlertService {
  // Aggregation and selections find the same alert in every round. An alert in this cache is not written again.
  private readonly raised = new Lru<string, true>(50_000);

  constructor(private readonly deps: AlertDeps) {}

  /**
   * Raises alerts. Returns those that could not be stored. They are only logged, because the next round finds them
   * again.
   */
  async raiseAll(drafts: readonly (AlertDraft | undefined)[]): Promise<AlertDraft[]> {
    const failed: AlertDraft[] = [];
    await Promise.all(
      drafts.map(async (draft) => {
        if (!draft) return;
        await this.raise(draft).catch((error: unknown) => {
          failed.push(draft);
          this.deps.log.warn({ err: error, kind: draft.kind }, 'failed to raise an alert; the next round retries');
        });
      }),
    );
    return failed;
  }

  /** Raises an alert once, in whichever process is first. */
  private async raise(draft: AlertDraft): Promise<void> {
    const { orgId, appId = '', kind } = draft;
    const name = [orgId, appId, ...markOf(draft)].join(' ');
    if (this.raised.has(name)) return;
    const nowMs = this.deps.clock.nowMs();
    const expiresAtSecs = epochSeconds(nowMs) + this.deps.retentionDays * 86_400;
    const markedUntilSecs = Math.max(expiresAtSecs, minMarkerSecs(draft));
    if (await this.deps.store.raise(draft, new Date(nowMs), expiresAtSecs, markedUntilSecs))
      this.deps.metrics.alerts.inc({ kind });
    this.raised.set(name, true);
  }
}

const minMarkerSecs = ({ periodEnd }: AlertDraft): number =>
  periodEnd === undefined ? 0 : epochSeconds(midnightOf(periodEnd)) + markerDays * 86_400;
