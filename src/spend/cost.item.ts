import type { Item } from '../dynamo/expression.js';
import { fields } from '../dynamo/fields.js';
import { key } from '../dynamo/keys.js';
import type { Dimension } from './breakdown/dimension.js';
import { ledgerIndex } from './ledger/ledger-key.js';
import type { Usage } from './money.js';
import { type PriceSource, priceSources, type UnitPrice } from './price.js';
import { toUsage, usageAttributes } from './spend.item.js';

export const costTable = 'cost_requests';

const callStatuses = ['OK', 'ERROR'] as const;

/** A request id belongs to the app that sent it. */
export interface RequestRef {
  readonly orgId: string;
  readonly appId: string;
  readonly requestId: string;
}

/** A cost as it was recorded. It never changes. */
export interface CostRecord extends RequestRef {
  readonly label: string;
  readonly day: string;
  /** Whole hours since the day began. Absent on costs from before hours were counted. */
  readonly hour?: number;
  /** The values as counted: `other` for a value beyond the maximum of its day. */
  readonly dimensions?: readonly Dimension[];
  /** True if the cost was also counted for its app, under quotaScope ORG. */
  readonly isAttributed?: true;
  /** The number of partitions of the ledger that is to list the cost. Absent if none does. */
  readonly ledgerPartitions?: number;
  /** The hash of the caller's input, without anything computed from it. Tells a retry from another call. */
  readonly payloadHash: string;
  readonly usage: Usage;
  readonly priceSource: PriceSource;
  /** Absent if the cost was submitted. */
  readonly unitPrice?: UnitPrice;
  readonly callStatus: (typeof callStatuses)[number];
  readonly occurredAtMs: number;
  readonly receivedAtMs: number;
}

export const requestKey = ({ orgId, appId, requestId }: RequestRef) => ({
  PK: key`ORG#${orgId}#APP#${appId}#REQ#${requestId}`,
});

export const toCostItem = (record: CostRecord): Item => ({
  ...requestKey(record),
  request_id: record.requestId,
  org_id: record.orgId,
  app_id: record.appId,
  model_label: record.label,
  day: record.day,
  hour: record.hour,
  dimensions: record.dimensions && Object.fromEntries(record.dimensions.map(({ name, value }) => [name, value])),
  attributed: record.isAttributed,
  ...(record.ledgerPartitions === undefined ? {} : ledgerIndex(record, record.ledgerPartitions)),
  payload_hash: record.payloadHash,
  ...usageAttributes(record.usage),
  price_source: record.priceSource,
  input_price_usd_micros_per_1m: record.unitPrice?.inputUsdMicrosPer1M,
  output_price_usd_micros_per_1m: record.unitPrice?.outputUsdMicrosPer1M,
  call_status: record.callStatus,
  occurred_at_ms: record.occurredAtMs,
  received_at_ms: record.receivedAtMs,
});

export function toCostRecord(item: Item): CostRecord {
  const read = fields(costTable, item);
  const inputUsdMicrosPer1M = read.optionalNumber('input_price_usd_micros_per_1m');
  const outputUsdMicrosPer1M = read.optionalNumber('output_price_usd_micros_per_1m');
  const hour = read.optionalNumber('hour');
  const dimensions = read.optionalMap('dimensions');
  return {
    ...(hour === undefined ? {} : { hour }),
    ...(dimensions ? { dimensions: dimensionsOf(dimensions) } : {}),
    ...(read.optionalBoolean('attributed') ? { isAttributed: true } : {}),
    requestId: read.string('request_id'),
    orgId: read.string('org_id'),
    appId: read.string('app_id'),
    label: read.string('model_label'),
    day: read.string('day'),
    payloadHash: read.string('payload_hash'),
    usage: toUsage(costTable, item),
    priceSource: read.oneOf('price_source', priceSources),
    ...(inputUsdMicrosPer1M === undefined || outputUsdMicrosPer1M === undefined
      ? {}
      : { unitPrice: { inputUsdMicrosPer1M, outputUsdMicrosPer1M } }),
    callStatus: read.oneOf('call_status', callStatuses),
    occurredAtMs: read.number('occurred_at_ms'),
    receivedAtMs: read.number('received_at_ms'),
  };
}

function dimensionsOf(map: Item): Dimension[] {
  const read = fields(costTable, map);
  return Object.keys(map).map((name) => ({ name, value: read.string(name) }));
}
