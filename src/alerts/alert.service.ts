import { LRUCache } from 'lru-cache';
import { type Clock, epochSeconds } from '../lib/clock.js';
import type { Log } from '../lib/log.js';
import type { Metrics } from '../lib/metrics.js';
import type { AlertDraft } from './alert.js';
import type { AlertStore } from './alert.store.js';

export interface AlertDeps {
  readonly store: AlertStore;
  readonly clock: Clock;
  readonly metrics: Metrics;
  readonly log: Log;
  readonly retentionDays: number;
}

export class AlertService {
  // Whoever judges a quota says the same thing in every round; what has been raised is not tried again.
  private readonly known = new LRUCache<string, true>({ max: 50_000 });

  constructor(private readonly deps: AlertDeps) {}

  /** Raises alerts. Returns those that could not be stored now: they are only logged, because the next judgement finds them again. */
  async raiseAll(drafts: readonly (AlertDraft | undefined)[]): Promise<AlertDraft[]> {
    const failed: AlertDraft[] = [];
    await Promise.all(
      drafts.map(async (draft) => {
        if (!draft) return;
        await this.raise(draft).catch((error: unknown) => {
          failed.push(draft);
          this.deps.log.warn({ err: error, kind: draft.kind }, 'failed to raise an alert; the next round tries again');
        });
      }),
    );
    return failed;
  }

  /** Raises an alert unless it has been raised: once per scope, label, day and kind, whoever is first. */
  private async raise(draft: AlertDraft): Promise<void> {
    const { orgId, appId = '', day, label, kind } = draft;
    const name = [orgId, appId, day, label, kind].join(' ');
    if (this.known.has(name)) return;
    const nowMs = this.deps.clock.nowMs();
    if (await this.deps.store.raise(draft, new Date(nowMs), epochSeconds(nowMs) + this.deps.retentionDays * 86_400))
      this.deps.metrics.alerts.inc({ kind });
    this.known.set(name, true);
  }
}
