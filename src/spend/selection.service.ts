import type { AlertDraft } from '../alerts/alert.js';
import type { AlertService } from '../alerts/alert.service.js';
import type { AuditService } from '../audit/audit.service.js';
import { type Actor, appEntity, changesBetween, orgEntity } from '../audit/audit-event.js';
import type { Clock } from '../lib/clock.js';
import type { Metrics } from '../lib/metrics.js';
import { within } from '../lib/timers.js';
import { dayAt, endOfDayMs } from './calendar.js';
import type { SpendMode } from './money.js';
import { invalidLabel, type Price } from './price.js';
import type { PriceService } from './price.service.js';
import { alertFor, fallbackAlert } from './quota-alert.js';
import { type LabelSpend, labelSpend, type SpendReader, type Subject } from './report.js';
import { choose, type SelectionReason, type Sticky } from './selection.js';
import type { StickyStore } from './sticky.store.js';

export interface ModelSelection {
  readonly allowed: boolean;
  readonly label?: string;
  readonly bedrockModelId?: string;
  readonly reason: SelectionReason;
  readonly mode: SpendMode;
  readonly chain: readonly LabelSpend[];
  readonly price?: Price;
  readonly recheckAfterSecs: number;
  readonly day: string;
  readonly resetsAt: Date;
}

const tellingMs = 500;

export interface SelectionParts {
  readonly stickies: StickyStore;
  readonly prices: PriceService;
  readonly alerts: AlertService;
  readonly audit: AuditService;
  readonly clock: Clock;
  readonly metrics: Metrics;
}

/** Which model a scope may call, and the fallback it has come to. */
export class SelectionService {
  constructor(private readonly parts: SelectionParts) {}

  /** Which model to call now. A move along the chain is written down, and told, once. */
  async select(subject: Subject, reader: SpendReader): Promise<ModelSelection> {
    const { org, scope, settings } = subject;
    const day = dayAt(org.zones, this.parts.clock.nowMs());
    const id = { ...scope, day };
    const labels = settings.modelOrdering;
    const [totals, found] = await Promise.all([Promise.all(labels.map((label) => reader.total({ ...id, label }))), reader.sticky(id)]);
    const chain = labels.map((label, i) => labelSpend(subject, this.parts.prices.catalog, label, totals[i]));
    const links = chain.map(({ label, costUsdMicros, quotaUsdMicros = 0 }) => ({ label, costUsdMicros, quotaUsdMicros }));
    const decide = (sticky: Sticky | undefined) => choose(links, sticky, org.stickyFallbackEnabled, settings.tightModeThresholdPct);

    let sticky = found;
    let choice = decide(sticky);
    if (choice.move) {
      await this.move(subject, choice.move, day);
      // Whoever moved it, this call or another's: what is stored now is what counts.
      sticky = await this.parts.stickies.read(id);
      choice = { ...decide(sticky), ...(sticky?.activeLabel === choice.label ? { reason: choice.reason } : {}) };
    }
    const drafts = [...chain.map((link) => alertFor(subject, link, day)), this.fallbackOf(subject, chain, sticky, day)];
    // A selection is not worth less, nor later, because its alert takes long to be written.
    await within(tellingMs, this.parts.alerts.raiseAll(drafts), () => undefined);
    const { label, reason, mode } = choice;
    const model = label === undefined ? undefined : this.parts.prices.catalog.get(label);
    return {
      allowed: label !== undefined,
      ...(label === undefined ? {} : { label }),
      ...(model ? { bedrockModelId: model.bedrockModelId, price: await this.parts.prices.at(model, this.parts.clock.nowMs()) } : {}),
      reason,
      mode,
      chain,
      recheckAfterSecs: mode === 'TIGHT' ? settings.refreshIntervalTightSecs : settings.refreshIntervalNormalSecs,
      day,
      resetsAt: new Date(endOfDayMs(org.zones, day)),
    };
  }

  /** Puts a scope on a label of its chain for the rest of the day; null lets the quotas decide again. */
  async override(subject: Subject, label: string | null | undefined, actor: Actor): Promise<void> {
    const { org, scope, settings, orderingVersion } = subject;
    const day = dayAt(org.zones, this.parts.clock.nowMs());
    const id = { ...scope, day };
    const isCleared = label === null || label === undefined;
    const index = isCleared ? 0 : settings.modelOrdering.indexOf(label);
    if (index < 0) throw invalidLabel(settings.modelOrdering);
    const before = await this.parts.stickies.read(id);
    const act = this.parts.audit.draft({
      orgId: org.orgId,
      actor,
      action: 'model_overridden',
      entityId: scope.appId === undefined ? orgEntity : appEntity(scope.appId),
      details: { day },
      changes: changesBetween({ label: before?.activeLabel }, { label }),
    });
    if (isCleared) return this.parts.stickies.clear(id, act);
    await this.parts.stickies.override(id, { label, index, orderingVersion }, { nowMs: this.parts.clock.nowMs(), dayEndMs: endOfDayMs(org.zones, day) }, act);
  }

  private async move(subject: Subject, { from, to }: { readonly from: string; readonly to: string }, day: string): Promise<void> {
    const { org, scope, settings, orderingVersion } = subject;
    const position = { label: to, index: settings.modelOrdering.indexOf(to), orderingVersion };
    const moved = await this.parts.stickies.advance({ ...scope, day }, position, from, this.parts.clock.nowMs(), endOfDayMs(org.zones, day));
    if (moved) this.parts.metrics.stickyFlips.inc();
  }

  /** Told from what is stored, not from the move itself: who moved may have died before it could tell. */
  private fallbackOf(subject: Subject, chain: readonly LabelSpend[], sticky: Sticky | undefined, day: string): AlertDraft | undefined {
    const usedUp = sticky?.reason === 'QUOTA_EXCEEDED' ? chain.find(({ label }) => label === sticky.previousLabel) : undefined;
    return sticky && usedUp && fallbackAlert(subject, usedUp, sticky.activeLabel, day);
  }
}
