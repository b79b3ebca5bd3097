import type { Clock } from '../../lib/clock.js';
import { forEachLimited } from '../../lib/concurrent.js';
import type { Log } from '../../lib/log.js';
import { Lru } from '../../lib/lru.js';
import { dayAt } from '../../orgs/calendar.js';
import type { Org } from '../../orgs/settings.js';
import { dateOf } from '../../orgs/zone-dates.js';
import { daysBetween } from '../open-days.js';
import type { BudgetCheckService, SummedOrg } from './budget-check.service.js';

const maxConcurrentOrgs = 8;
const maxCheckedOrgs = 10_000;
/** After this many failures of one round DynamoDB is probably unavailable. The next round retries. */
const maxFailures = 8;
/**
 * The first check of a process covers this many days before today, because the process before it may have crashed
 * after it had closed the last day of a period, or summed a day again that was corrected.
 */
const firstCheckDays = 31;
/** A forecast reads four weeks of totals, and its hours change slowly. */
const forecastEveryMs = 10 * 60_000;
const dayMs = 86_400_000;

/** What the last check of an org was based on. */
interface Checked {
  readonly budgetsVersion: number;
  readonly today: string;
  readonly raiseEndsAtMs: number | undefined;
  /** The days to check again, because the check of them failed. */
  readonly failedDays: readonly string[];
  readonly forecastAtMs: number;
}

export interface BudgetRollupDeps {
  readonly checks: Pick<BudgetCheckService, 'check'>;
  readonly orgs: { loadOrgs(orgIds: readonly string[]): Promise<(Org | undefined)[]> };
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Checks the budgets of orgs after their totals were summed. An org without budgets costs nothing, and one whose totals
 * and budgets have not changed costs no read.
 */
export class BudgetRollup {
  private readonly checked = new Lru<string, Checked>(maxCheckedOrgs);

  constructor(private readonly deps: BudgetRollupDeps) {}

  /**
   * Checks the orgs of a round, and those whose raise has ended or whose last check failed. `asOfMs` is the time up to
   * which the totals of the orgs include all costs; 0 if it is not known. Never throws.
   */
  async checkAll(summed: readonly SummedOrg[], asOfMs: number): Promise<void> {
    try {
      const orgs = [
        ...summed.map((each) => ({ ...each, asOfMs })),
        // Another worker may have the slice of these orgs, so this round says nothing about their totals.
        ...(await this.dueOrgs(new Set(summed.map(({ org }) => org.orgId)))).map((each) => ({ ...each, asOfMs: 0 })),
      ];
      let failures = 0;
      await forEachLimited(orgs, maxConcurrentOrgs, async (each) => {
        const days = this.daysToCheck(each);
        if (!days) return;
        const isComplete = failures < maxFailures && (await this.checkOrg(each.org, days, each.asOfMs));
        if (isComplete) return;
        failures++;
        this.noteFailure(each.org, days);
      });
    } catch (error) {
      this.deps.log.warn({ err: error }, 'failed to check budgets; the next round retries');
    }
  }

  /** Orgs without costs in the open days that have to be judged again. */
  private async dueOrgs(inRound: ReadonlySet<string>): Promise<SummedOrg[]> {
    const nowMs = this.deps.clock.nowMs();
    const due = [...this.checked.entries()]
      .filter(([orgId, { failedDays, raiseEndsAtMs }]) => {
        const isDue = failedDays.length > 0 || (raiseEndsAtMs !== undefined && raiseEndsAtMs <= nowMs);
        return isDue && !inRound.has(orgId);
      })
      .map(([orgId]) => orgId);
    if (due.length === 0) return [];
    const orgs = await this.deps.orgs.loadOrgs(due);
    return orgs.filter((org) => org !== undefined).map((org) => ({ org, changedDays: [] }));
  }

  /** The days whose periods have to be checked. Undefined if nothing has changed since the last check. */
  private daysToCheck({ org, changedDays }: SummedOrg): readonly string[] | undefined {
    const { orgId, budgetsVersion, zones } = org;
    if (budgetsVersion === 0) return undefined;
    const nowMs = this.deps.clock.nowMs();
    const today = dayAt(zones, nowMs);
    const last = this.checked.get(orgId);
    if (!last) return [...daysBetween(dateOf(nowMs - firstCheckDays * dayMs), today), ...changedDays];
    const days = [...last.failedDays, ...changedDays];
    const isSame = last.budgetsVersion === budgetsVersion && last.today === today;
    const isRaiseOver = last.raiseEndsAtMs !== undefined && last.raiseEndsAtMs <= nowMs;
    return days.length === 0 && isSame && !isRaiseOver ? undefined : [...days, today];
  }

  /** False if a state or an alert could not be stored. */
  private async checkOrg(org: Org, days: readonly string[], asOfMs: number): Promise<boolean> {
    const { checks, clock, log } = this.deps;
    const { orgId, budgetsVersion, zones } = org;
    const nowMs = clock.nowMs();
    const today = dayAt(zones, nowMs);
    const lastForecastMs = this.checked.get(orgId)?.forecastAtMs ?? 0;
    const withForecasts = nowMs - lastForecastMs >= forecastEveryMs;
    try {
      const { isComplete, raiseEndsAtMs } = await checks.check(org, days, { asOfMs, withForecasts });
      if (!isComplete) return false;
      const forecastAtMs = withForecasts ? nowMs : lastForecastMs;
      this.checked.set(orgId, { budgetsVersion, today, raiseEndsAtMs, failedDays: [], forecastAtMs });
      return true;
    } catch (error) {
      log.warn({ err: error, orgId }, 'failed to check the budgets of an org; the next round retries');
      return false;
    }
  }

  private noteFailure({ orgId, budgetsVersion }: Org, days: readonly string[]): void {
    this.checked.set(orgId, {
      budgetsVersion,
      today: '',
      raiseEndsAtMs: undefined,
      failedDays: [...new Set(days)],
      forecastAtMs: 0,
    });
  }
}
