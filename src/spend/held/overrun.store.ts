import type { Item, Put, StoreClient } from '../../dynamo/client.js';
import { and, equals, lessThan } from '../../dynamo/expression.js';
import { fields } from '../../dynamo/fields.js';
import { key } from '../../dynamo/keys.js';
import { sha256 } from '../../lib/id.js';
import { compactDate } from '../../orgs/calendar.js';
import { type CostRecord, costTable } from '../cost.item.js';
import { type ListedOverrun, type Overrun, overrunKinds } from './overrun.js';

export interface OverrunRow extends ListedOverrun {
  /** The content of a cursor. */
  readonly position: string;
}

const timeDigits = 15;
const hashChars = 12;

const listKey = (orgId: string, day: string): string => key`OVERRUN#${orgId}#${compactDate(day)}`;

/** Costs that no reservation covered. Each is an item beside that of its request. */
export class OverrunStore {
  constructor(private readonly client: StoreClient) {}

  /** The write that lists an overrun, for the transaction that records its cost. It expires with the cost. */
  draft({ orgId, appId, requestId, label, day }: CostRecord, overrun: Overrun, times: OverrunTimes): Put {
    const { nowMs, expiresAtSecs } = times;
    return {
      table: costTable,
      put: {
        PK: key`ORG#${orgId}#APP#${appId}#REQ#${requestId}#OVERRUN`,
        gsi1pk: listKey(orgId, day),
        gsi1sk: key`${String(nowMs).padStart(timeDigits, '0')}#${sha256(`${appId} ${requestId}`).slice(0, hashChars)}`,
        request_id: requestId,
        app_id: appId,
        model_label: label,
        day,
        kind: overrun.kind,
        over_usd_micros: overrun.overUsdMicros,
        occurred_at_ms: nowMs,
        expires_at_epoch: expiresAtSecs,
      },
    };
  }

  /** Up to `limit` overruns of a day, newest first, before a position. The index is eventually consistent. */
  async list(orgId: string, day: string, limit: number, before?: string): Promise<OverrunRow[]> {
    const ofDay = equals('gsi1pk', listKey(orgId, day));
    const found = await this.client.queryIndexed({
      table: costTable,
      index: 'gsi1',
      where: before === undefined ? ofDay : and(ofDay, lessThan('gsi1sk', before)),
      newestFirst: true,
      limit,
    });
    return found.map(({ item }) => toRow(item));
  }
}

export interface OverrunTimes {
  readonly nowMs: number;
  readonly expiresAtSecs: number;
}

function toRow(item: Item): OverrunRow {
  const read = fields(costTable, item);
  const day = read.string('day');
  return {
    requestId: read.string('request_id'),
    appId: read.string('app_id'),
    label: read.string('model_label'),
    day,
    kind: read.oneOf('kind', overrunKinds),
    overUsdMicros: read.number('over_usd_micros'),
    occurredAt: read.date('occurred_at_ms'),
    position: `${day} ${read.string('gsi1sk')}`,
  };
}
