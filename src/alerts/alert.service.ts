import { LRUCache } from 'lru-cache';
import { type Clock, epochSeconds } from '../lib/clock.js';
import type { Log } from '../lib/log.js';
import type { Metrics } from '../lib/metrics.js';
import type { AlertDraft } from './alert.js';
import type { AlertStore } from './alert.store.js';

export class AlertService {
  // Whoever judges a quota says the same thing in every round; what has been raised is not tried again.
  private readonly known = new LRUCache<string, true>({ max: 50_000 });

  constructor(
    private readonly store: AlertStore,
    private readonly clock: Clock,
    private readonly metrics: Metrics,
    private readonly log: Log,
    private readonly retentionDays: number,
  ) {}

  /** Raises what a judge of quotas has found. One that cannot be written now is only logged: whoever judges next finds it again. */
  async raiseAll(drafts: readonly (AlertDraft | undefined)[]): Promise<void> {
    const complain = (error: unknown) => this.log.warn({ err: error }, 'an alert could not be raised yet');
    await Promise.all(drafts.filter((draft) => draft !== undefined).map((draft) => this.raise(draft).catch(complain)));
  }

  /** Raises an alert unless it has been raised: once per scope, label, day and kind, whoever is first. */
  private async raise(draft: AlertDraft): Promise<void> {
    const { orgId, appId = '', day, label, kind } = draft;
    const name = [orgId, appId, day, label, kind].join(' ');
    if (this.known.has(name)) return;
    const nowMs = this.clock.nowMs();
    if (await this.store.raise(draft, new Date(nowMs), epochSeconds(nowMs) + this.retentionDays * 86_400)) this.metrics.alerts.inc({ kind });
    this.known.set(name, true);
  }
}
