import type { Item, StoreClient } from '../dynamo/client.js';
import { absent, and, equals, lessThan, or } from '../dynamo/expression.js';
import { key } from '../dynamo/keys.js';
import type { TransactItem } from '../dynamo/transact-item.js';
import { epochSeconds } from '../lib/clock.js';
import { type Scope, scopeKey } from '../orgs/scope.js';
import type { Sticky, StickyReason } from './selection.js';

const table = 'sticky_state';
const keptAfterDaySecs = 25 * 3600;

/** A scope's day. */
export interface StickyId extends Scope {
  readonly day: string;
}

export const stickyKey = ({ day, ...scope }: StickyId) => ({
  PK: scopeKey(scope),
  SK: key`DAY#${day.replaceAll('-', '')}`,
});

/** Where in an ordering a label stands, and which version of the ordering that is. */
export interface Position {
  readonly label: string;
  readonly index: number;
  readonly orderingVersion: number;
}

export class StickyStore {
  constructor(private readonly client: StoreClient) {}

  async loadMany(ids: readonly StickyId[]): Promise<(Sticky | undefined)[]> {
    const items = await this.client.getMany(table, ids.map(stickyKey));
    return items.map((item) => item && toSticky(item));
  }

  /** For a decision after a lost race: what is stored now. */
  async read(id: StickyId): Promise<Sticky | undefined> {
    const item = await this.client.get(table, stickyKey(id), { consistent: true });
    return item && toSticky(item);
  }

  /** Moves forward along the chain, never back, unless the chain itself has changed, and never over an override. False: another was there first. */
  async advance(id: StickyId, to: Position, previousLabel: string, nowMs: number, dayEndMs: number): Promise<boolean> {
    const set = attributes(to, 'QUOTA_EXCEEDED', nowMs, dayEndMs, previousLabel);
    const further = or(
      lessThan('ordering_version', to.orderingVersion),
      and(equals('ordering_version', to.orderingVersion), lessThan('active_model_index', to.index)),
    );
    const outcome = await this.client.write(
      {
        table,
        update: stickyKey(id),
        set,
        condition: or(absent('active_model_label'), and(equals('reason', 'QUOTA_EXCEEDED'), further)),
      },
      { repeat: (old) => old.active_model_label === to.label && old.activated_at_ms === nowMs },
    );
    return outcome.done;
  }

  /** Puts a scope on a label for the rest of its day, together with the audit event. The last one to say so is obeyed. */
  async override(
    id: StickyId,
    to: Position,
    { nowMs, dayEndMs }: { readonly nowMs: number; readonly dayEndMs: number },
    audit: TransactItem,
  ): Promise<void> {
    await this.client.transact(
      'fresh',
      [{ table, put: { ...stickyKey(id), ...attributes(to, 'MANUAL_OVERRIDE', nowMs, dayEndMs) } }],
      { riders: [audit] },
    );
  }

  async clear(id: StickyId, audit: TransactItem): Promise<void> {
    await this.client.transact('fresh', [{ table, delete: stickyKey(id) }], { riders: [audit] });
  }
}

const attributes = (
  { label, index, orderingVersion }: Position,
  reason: StickyReason,
  nowMs: number,
  dayEndMs: number,
  previousLabel?: string,
): Item => ({
  active_model_label: label,
  active_model_index: index,
  ordering_version: orderingVersion,
  reason,
  previous_model_label: previousLabel,
  activated_at_ms: nowMs,
  activated_at_epoch: epochSeconds(nowMs),
  expires_at_epoch: epochSeconds(dayEndMs) + keptAfterDaySecs,
});

const toSticky = (item: Item): Sticky => ({
  activeLabel: item.active_model_label as string,
  ...(item.previous_model_label ? { previousLabel: item.previous_model_label as string } : {}),
  reason: item.reason as StickyReason,
  activatedAt: new Date(item.activated_at_ms as number),
});
