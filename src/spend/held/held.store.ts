import type { Key, StoreClient } from '../../dynamo/client.js';
import { absent, and, atLeast, equals } from '../../dynamo/expression.js';
import { fields } from '../../dynamo/fields.js';
import { key } from '../../dynamo/keys.js';
import { type Clock, epochSeconds } from '../../lib/clock.js';
import { compactDate } from '../../orgs/calendar.js';
import { shardTable } from '../shard.store.js';
import {
  type HeldLimit,
  type HeldRef,
  heldIndexKey,
  heldKey,
  heldUpdate,
  isSwept,
  sweepWrite,
  toHeld,
} from './held.item.js';
import { dueSlots, emptyHeld, type HeldImage, sweptImage } from './held.js';

/** A held item and where it is. */
export interface HeldItem {
  readonly at: Key;
  readonly image: HeldImage;
}

/** Reads and sweeps held items, and adds the days before a budget became HARD to its item. */
export class HeldStore {
  constructor(
    private readonly client: StoreClient,
    private readonly clock: Clock,
    private readonly shardDays: number,
  ) {}

  /** Consistent reads. Undefined for an item that does not exist. */
  async loadMany(refs: readonly HeldRef[]): Promise<(HeldImage | undefined)[]> {
    const items = await this.client.getMany(shardTable, refs.map(heldKey), { consistent: true });
    return items.map((item) => item && toHeld(item));
  }

  /** Sweeps the item of a bound and returns it as it is then. */
  async sweep(ref: HeldRef, image: HeldImage): Promise<HeldImage> {
    const at = heldKey(ref);
    return (await this.sweepItem({ at, image })) ?? (await this.loadMany([ref]))[0] ?? emptyHeld;
  }

  /**
   * Returns the reservations whose slot is over. Undefined if the item has changed meanwhile: the next round sweeps it.
   * `swept` only grows, so that no gateway can reserve in a slot that was swept.
   */
  async sweepItem({ at, image }: HeldItem): Promise<HeldImage | undefined> {
    const due = dueSlots(image, this.clock.nowMs());
    if (due.length === 0) return image;
    const { done } = await this.client.write(sweepWrite(at, image, due), { repeat: (old) => isSwept(old, image, due) });
    return done ? sweptImage(image, due) : undefined;
  }

  /** The items of the budgets of a slice whose period ends on this day or later. */
  async listBudgets(slice: number, fromDay: string): Promise<HeldItem[]> {
    const entries = await this.client.queryAll({
      table: shardTable,
      index: 'gsi1',
      where: and(equals('gsi1pk', heldIndexKey(slice)), atLeast('gsi1sk', key`${compactDate(fromDay)}`)),
    });
    const keys = entries.map((entry) => {
      const read = fields(shardTable, entry);
      return { PK: read.string('PK'), SK: read.string('SK') };
    });
    const items = await this.client.getMany(shardTable, keys, { consistent: true });
    return keys.flatMap((at, i) => {
      const item = items[i];
      return item ? [{ at, image: toHeld(item) }] : [];
    });
  }

  /**
   * Sets the spend of the days before a budget became HARD. What is held changes by the difference. False if another
   * process has set it meanwhile.
   */
  async setBase(limit: HeldLimit, base: number): Promise<boolean> {
    const [image] = await this.loadMany([limit.ref]);
    const before = image?.base;
    if (before === base) return true;
    const expiresAtSecs = epochSeconds(this.clock.nowMs()) + (this.shardDays + 31) * 86_400;
    const { done } = await this.client.write(
      {
        ...heldUpdate(limit, expiresAtSecs),
        add: { held: base - (before ?? 0) },
        set: { base },
        condition: before === undefined ? absent('base') : equals('base', before),
      },
      { repeat: (old) => old.base === base },
    );
    return done;
  }
}
