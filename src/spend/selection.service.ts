import type { AlertDraft } from '../alerts/alert.js';
import type { AlertService } from '../alerts/alert.service.js';
import type { AuditService } from '../audit/audit.service.js';
import { type Actor, appEntity, changesBetween, orgEntity } from '../audit/audit-event.js';
import type { Clock } from '../lib/clock.js';
import { badInput } from '../lib/errors.js';
import type { Log } from '../lib/log.js';
import { Lru } from '../lib/lru.js';
import type { Metrics } from '../lib/metrics.js';
import { within } from '../lib/timers.js';
import { dayAt, endOfDayMs } from '../orgs/calendar.js';
import { tightest, type UsedUpBudget } from './budgets/budget.js';
import type { BudgetService } from './budgets/budget.service.js';
import { invalidLabel } from './catalog/catalog.js';
import type { Price } from './catalog/price.js';
import type { PriceService } from './catalog/price.service.js';
import { type LabelSpend, labelSpend } from './day-spend.js';
import type { SpendMode } from './money.js';
import { alertFor, fallbackAlert } from './quota-alert.js';
import {
  type Choice,
  choose,
  recheckAfterSecs,
  type SelectionReason,
  type SkipReason,
  type Sticky,
} from './selection.js';
import type { SelectionReader } from './spend-reader.js';
import type { StickyStore } from './sticky.store.js';
import type { Subject } from './subject.js';

export interface SkippedLabel {
  readonly label: string;
  readonly reason: SkipReason;
}

export interface ModelSelection {
  readonly allowed: boolean;
  readonly label?: string;
  readonly bedrockModelId?: string;
  readonly reason: SelectionReason;
  readonly mode: SpendMode;
  /** The name of the budget that excluded a label. Absent if no budget decided. */
  readonly budget?: string;
  readonly chain: readonly LabelSpend[];
  readonly skipped: readonly SkippedLabel[];
  readonly price?: Price;
  readonly recheckAfterSecs: number;
  readonly day: string;
  readonly resetsAt: Date;
}

const maxAlertWaitMs = 500;

export interface SelectionDeps {
  readonly stickies: StickyStore;
  readonly prices: PriceService;
  readonly budgets: Pick<BudgetService, 'usedUp'>;
  readonly alerts: AlertService;
  readonly audit: AuditService;
  readonly clock: Clock;
  readonly metrics: Metrics;
  readonly log: Log;
}

/** Recommends the model that a scope may call, and stores its fallback. */
export class SelectionService {
  // Each warning about an unknown label is logged once per process.
  private readonly warned = new Lru<string, true>(1000);

  constructor(private readonly deps: SelectionDeps) {}

  /** Returns the model to call now. A move along the chain is stored once and raises its alert once. */
  async select(subject: Subject, reader: SelectionReader): Promise<ModelSelection> {
    const { org, scope } = subject;
    const { catalog } = this.deps.prices;
    const day = dayAt(org.zones, this.deps.clock.nowMs());
    const id = { ...scope, day };
    const labels = subject.settings.modelOrdering;
    const [totals, stored, budgets] = await Promise.all([
      Promise.all(labels.map((label) => reader.total({ ...id, label }))),
      reader.sticky(id),
      this.deps.budgets.usedUp(org, subject.appId, reader),
    ]);
    const chain = labels.map((label, i) => labelSpend({ subject, catalog, day, isOver: false }, label, totals[i]));
    const { choice, sticky } = await this.decide(subject, chain, stored, { day, budgets });
    const drafts = [...chain.map((link) => alertFor(subject, link, day)), this.fallbackOf(subject, chain, sticky, day)];
    // A selection waits only briefly for its alerts, and succeeds if they fail.
    await within(maxAlertWaitMs, this.deps.alerts.raiseAll(drafts), () => []);
    return this.selectionOf(subject, chain, choice, day);
  }

  private async decide(
    subject: Subject,
    chain: readonly LabelSpend[],
    stored: Sticky | undefined,
    { day, budgets }: { readonly day: string; readonly budgets: readonly UsedUpBudget[] },
  ): Promise<{ readonly choice: Choice; readonly sticky: Sticky | undefined }> {
    const { catalog } = this.deps.prices;
    const { org, scope, settings } = subject;
    const links = chain.map(({ label, costUsdMicros, quotaUsdMicros = 0 }) => {
      const usedUpBudget = tightest(budgets.filter((budget) => (budget.label ?? label) === label));
      const hasModel = catalog.has(label);
      return { label, costUsdMicros, quotaUsdMicros, hasModel, ...(usedUpBudget ? { usedUpBudget } : {}) };
    });
    const decide = (sticky: Sticky | undefined) =>
      choose(links, sticky, org.stickyFallbackEnabled, settings.tightModeThresholdPct);
    const choice = decide(stored);
    if (!choice.move) return { choice, sticky: stored };
    await this.move(subject, choice.move, day);
    // Another request may have moved it further, so the stored state decides.
    const sticky = await this.deps.stickies.read({ ...scope, day });
    return {
      choice: { ...decide(sticky), ...(sticky?.activeLabel === choice.label ? { reason: choice.reason } : {}) },
      sticky,
    };
  }

  private async selectionOf(
    subject: Subject,
    chain: readonly LabelSpend[],
    { label, reason, mode, budget }: Choice,
    day: string,
  ): Promise<ModelSelection> {
    const { catalog } = this.deps.prices;
    const { org, settings } = subject;
    const model = label === undefined ? undefined : catalog.get(label);
    const skipped = chain
      .filter((link) => !catalog.has(link.label))
      .map((link) => ({ label: link.label, reason: 'UNKNOWN_LABEL' as const }));
    this.warnAbout(subject, skipped);
    const resetsAtMs = endOfDayMs(org.zones, day);
    const intervalSecs = mode === 'TIGHT' ? settings.refreshIntervalTightSecs : settings.refreshIntervalNormalSecs;
    const nowMs = this.deps.clock.nowMs();
    return {
      allowed: label !== undefined,
      ...(label === undefined ? {} : { label }),
      ...(model ? { bedrockModelId: model.modelId, price: await this.deps.prices.at(model, nowMs, org.orgId) } : {}),
      reason,
      mode,
      ...(budget === undefined ? {} : { budget }),
      chain,
      skipped,
      // If labels were skipped, another gateway may have models for them, and a budget may be raised at any time. The
      // client should not wait for the end of the day then.
      recheckAfterSecs: recheckAfterSecs(
        intervalSecs,
        nowMs,
        resetsAtMs,
        reason === 'ALL_QUOTAS_EXCEEDED' && skipped.length === 0,
      ),
      day,
      resetsAt: new Date(resetsAtMs),
    };
  }

  /** Sets the label of a scope for the rest of its day. Null clears the override, so that the quotas decide again. */
  async override(subject: Subject, label: string | null | undefined, actor: Actor): Promise<void> {
    if (label === undefined)
      throw badInput({
        path: 'input.label',
        message: 'is required: send a label of the model ordering, or null to clear the override',
      });
    const { org, scope, settings, orderingVersion } = subject;
    const day = dayAt(org.zones, this.deps.clock.nowMs());
    const id = { ...scope, day };
    const usable = settings.modelOrdering.filter((entry) => this.deps.prices.catalog.has(entry));
    if (label !== null && !usable.includes(label)) throw invalidLabel(usable);
    const before = await this.deps.stickies.read(id);
    const auditEvent = this.deps.audit.draft({
      orgId: org.orgId,
      actor,
      action: 'model_overridden',
      entityId: scope.appId === undefined ? orgEntity : appEntity(scope.appId),
      details: { day },
      changes: changesBetween({ label: before?.activeLabel }, { label }),
    });
    if (label === null) return this.deps.stickies.clear(id, auditEvent);
    const position = { label, index: settings.modelOrdering.indexOf(label), orderingVersion };
    const times = { nowMs: this.deps.clock.nowMs(), dayEndMs: endOfDayMs(org.zones, day) };
    await this.deps.stickies.override(id, position, times, auditEvent);
  }

  private async move(
    subject: Subject,
    { from, to }: { readonly from: string; readonly to: string },
    day: string,
  ): Promise<void> {
    const { org, scope, settings, orderingVersion } = subject;
    const position = { label: to, index: settings.modelOrdering.indexOf(to), orderingVersion };
    const times = { nowMs: this.deps.clock.nowMs(), dayEndMs: endOfDayMs(org.zones, day) };
    const moved = await this.deps.stickies.advance({ ...scope, day }, position, from, times);
    if (moved) this.deps.metrics.stickyFlips.inc();
  }

  /**
   * The alert comes from the stored state, because the process that moved it may have crashed before it raised the
   * alert.
   */
  private fallbackOf(
    subject: Subject,
    chain: readonly LabelSpend[],
    sticky: Sticky | undefined,
    day: string,
  ): AlertDraft | undefined {
    const usedUp =
      sticky?.reason === 'QUOTA_EXCEEDED' ? chain.find(({ label }) => label === sticky.previousLabel) : undefined;
    return sticky && usedUp && fallbackAlert(subject, usedUp, sticky.activeLabel, day);
  }

  private warnAbout({ scope }: Subject, skipped: readonly SkippedLabel[]): void {
    for (const { label } of skipped) {
      const name = `${scope.orgId} ${scope.appId ?? ''} ${label}`;
      if (this.warned.has(name)) continue;
      this.warned.set(name, true);
      this.deps.log.warn(
        { ...scope, label },
        'a model ordering names a label that is not in the catalog; selections skip it',
      );
    }
  }
}
