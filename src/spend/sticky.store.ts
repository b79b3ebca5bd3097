import type { Item, StoreClient } from '../dynamo/client.js';
import { absent, and, equals, lessThan, or } from '../dynamo/expression.js';
import { fields } from '../dynamo/fields.js';
import { key } from '../dynamo/keys.js';
import type { TransactItem } from '../dynamo/transact-item.js';
import { epochSeconds } from '../lib/clock.js';
import { compactDate } from '../orgs/calendar.js';
import { type Scope, scopeKey } from '../orgs/scope.js';
import { type Sticky, type StickyReason, stickyReasons } from './selection.js';

const table = 'sticky_state';
/** How long an item is stored after the end of its day. */
const retentionSecs = 25 * 3600;

/** One day of a scope. */
export interface StickyId extends Scope {
  readonly day: string;
}

export const stickyKey = ({ day, ...scope }: StickyId) => ({
  PK: scopeKey(scope),
  SK: key`DAY#${compactDate(day)}`,
});

/** The position of a label in one version of a model ordering. */
export interface OrderingPosition {
  readonly label: string;
  readonly index: number;
  readonly orderingVersion: number;
}

/** When a label became active, and when its day ends. */
export interface StickyTimes {
  readonly nowMs: number;
  readonly dayEndMs: number;
}

export class StickyStore {
  constructor(private readonly client: StoreClient) {}

  async loadMany(ids: readonly StickyId[]): Promise<(Sticky | undefined)[]> {
    const items = await this.client.getMany(table, ids.map(stickyKey));
    return items.map((item) => item && toSticky(item));
  }

  /** A consistent read, for a decision after a lost race. */
  async read(id: StickyId): Promise<Sticky | undefined> {
    const item = await this.client.get(table, stickyKey(id), { consistent: true });
    return item && toSticky(item);
  }

  /**
   * Moves forward along the chain. Never moves back unless the chain itself has changed, and never replaces an
   * override. Returns false if another process has moved it at least as far.
   */
  async advance(id: StickyId, to: OrderingPosition, previousLabel: string, times: StickyTimes): Promise<boolean> {
    const set = { ...attributes(to, 'QUOTA_EXCEEDED', times), previous_model_label: previousLabel };
    const isForward = or(
      lessThan('ordering_version', to.orderingVersion),
      and(equals('ordering_version', to.orderingVersion), lessThan('active_model_index', to.index)),
    );
    const outcome = await this.client.write(
      {
        table,
        update: stickyKey(id),
        set,
        condition: or(absent('active_model_label'), and(equals('reason', 'QUOTA_EXCEEDED'), isForward)),
      },
      { repeat: (old) => old.active_model_label === to.label && old.activated_at_ms === times.nowMs },
    );
    return outcome.done;
  }

  /** Sets a label for the rest of the day, together with the audit event. The last override wins. */
  async override(id: StickyId, to: OrderingPosition, times: StickyTimes, audit: TransactItem): Promise<void> {
    const put = { ...stickyKey(id), ...attributes(to, 'MANUAL_OVERRIDE', times) };
    await this.client.transact('fresh', [{ table, put }], { riders: [audit] });
  }

  async clear(id: StickyId, audit: TransactItem): Promise<void> {
    await this.client.transact('fresh', [{ table, delete: stickyKey(id) }], { riders: [audit] });
  }
}

const attributes = (
  { label, index, orderingVersion }: OrderingPosition,
  reason: StickyReason,
  { nowMs, dayEndMs }: StickyTimes,
): Item => ({
  active_model_label: label,
  active_model_index: index,
  ordering_version: orderingVersion,
  reason,
  activated_at_ms: nowMs,
  activated_at_epoch: epochSeconds(nowMs),
  expires_at_epoch: epochSeconds(dayEndMs) + retentionSecs,
});

function toSticky(item: Item): Sticky {
  const read = fields(table, item);
  const previousLabel = read.optionalString('previous_model_label');
  return {
    activeLabel: read.string('active_model_label'),
    ...(previousLabel === undefined ? {} : { previousLabel }),
    reason: read.oneOf('reason', stickyReasons),
    activatedAt: read.date('activated_at_ms'),
  };
}
