import type { Item } from '../dynamo/expression.js';
import { type Fields, fields } from '../dynamo/fields.js';
import { key } from '../dynamo/keys.js';
import type { Dimension } from './breakdown/dimension.js';
import type { CostComponent, UnitPrices } from './catalog/cost-lines.js';
import { type PriceSource, priceSources } from './catalog/price.js';
import { ledgerIndex } from './ledger/ledger-key.js';
import type { Usage } from './money.js';
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
  /** Whole hours since the day began. */
  readonly hour?: number;
  /** The values as counted: `other` for a value beyond the maximum of its day. */
  readonly dimensions?: readonly Dimension[];
  /** True if the cost was also counted for its app, under quotaScope ORG. */
  readonly isAttributed?: true;
  /** True if the usage is not known exactly, for example of a stream that was aborted. */
  readonly isEstimated?: true;
  /** The number of partitions of the ledger that is to list the cost. Absent if none does. */
  readonly ledgerPartitions?: number;
  /** The hash of the caller's input, without anything computed from it. Tells a retry from another call. */
  readonly payloadHash: string;
  readonly usage: Usage;
  readonly priceSource: PriceSource;
  /** The usage beside the tokens. Absent if there was none. */
  readonly components?: readonly CostComponent[];
  /** The price of each part of the usage. Absent if the cost was submitted. */
  readonly unitPrices?: UnitPrices;
  readonly callStatus: (typeof callStatuses)[number];
  readonly occurredAtMs: number;
  readonly receivedAtMs: number;
}

export const requestKey = ({ orgId, appId, requestId }: RequestRef) => ({
  PK: key`ORG#${orgId}#APP#${appId}#REQ#${requestId}`,
});

/** Splits a key made by `requestKey`. */
export function requestRefOf(partitionKey: string): RequestRef {
  const [, orgId = '', , appId = '', , requestId = ''] = partitionKey.split('#');
  return { orgId, appId, requestId };
}

/** How a cost was written, beside what was recorded. */
export interface CostStamp {
  /** The shard of the counters that the cost was added to. */
  readonly shard: number;
  /** Identifies the submission. If its response is lost, the retry finds the nonce and knows that it succeeded. */
  readonly nonce: string;
}

/**
 * What was recorded is one JSON text, because the database spends time on every attribute. Attributes of their own are
 * only those that DynamoDB must know: the key, the index of the ledger, and the expiry, which the store adds.
 */
export const toCostItem = (record: CostRecord, stamp: CostStamp): Item => ({
  ...requestKey(record),
  ...(record.ledgerPartitions === undefined ? {} : ledgerIndex(record, record.ledgerPartitions)),
  cost: JSON.stringify({
    model_label: record.label,
    day: record.day,
    hour: record.hour,
    dimensions: record.dimensions && Object.fromEntries(record.dimensions.map(({ name, value }) => [name, value])),
    attributed: record.isAttributed,
    estimated: record.isEstimated,
    payload_hash: record.payloadHash,
    ...usageAttributes(record.usage),
    price_source: record.priceSource,
    ...priceAttributes(record),
    call_status: record.callStatus,
    occurred_at_ms: record.occurredAtMs,
    received_at_ms: record.receivedAtMs,
    ...stamp,
  }),
});

/** The item with what was recorded as attributes. A reservation has no recorded cost, only attributes of its own. */
export function unpacked(item: Item): Item {
  const read = fields(costTable, item);
  return read.has('cost') ? { ...item, ...read.json('cost') } : item;
}

export const stampOf = (item: Item): CostStamp => {
  const read = fields(costTable, unpacked(item));
  return { shard: read.number('shard'), nonce: read.string('nonce') };
};

export function toCostRecord(item: Item): CostRecord {
  const all = unpacked(item);
  const read = fields(costTable, all);
  const hour = read.optionalNumber('hour');
  const dimensions = read.optionalMap('dimensions');
  return {
    ...(hour === undefined ? {} : { hour }),
    ...(dimensions ? { dimensions: dimensionsOf(dimensions) } : {}),
    ...(read.optionalBoolean('attributed') ? { isAttributed: true } : {}),
    ...(read.optionalBoolean('estimated') ? { isEstimated: true } : {}),
    ...requestRefOf(read.string('PK')),
    label: read.string('model_label'),
    day: read.string('day'),
    payloadHash: read.string('payload_hash'),
    usage: toUsage(costTable, all),
    priceSource: read.oneOf('price_source', priceSources),
    ...pricesIn(read),
    callStatus: read.oneOf('call_status', callStatuses),
    occurredAtMs: read.number('occurred_at_ms'),
    receivedAtMs: read.number('received_at_ms'),
  };
}

function dimensionsOf(map: Item): Dimension[] {
  const read = fields(costTable, map);
  return Object.keys(map).map((name) => ({ name, value: read.string(name) }));
}

/** Usage and prices of the components are maps, which are absent from the item of a call without components. */
function priceAttributes({ components = [], unitPrices }: CostRecord): Item {
  const { input, output, ...others } = unitPrices ?? {};
  const quantities = Object.fromEntries(components.map(({ name, quantity }) => [name, quantity]));
  return {
    input_price_usd_micros_per_1m: input,
    output_price_usd_micros_per_1m: output,
    components: components.length > 0 ? quantities : undefined,
    component_prices: Object.keys(others).length > 0 ? others : undefined,
  };
}

function pricesIn(read: Fields): Pick<CostRecord, 'components' | 'unitPrices'> {
  const input = read.optionalNumber('input_price_usd_micros_per_1m');
  const output = read.optionalNumber('output_price_usd_micros_per_1m');
  const unitPrices = {
    ...(input === undefined ? {} : { input }),
    ...(output === undefined ? {} : { output }),
    ...(read.has('component_prices') ? read.numbers('component_prices') : {}),
  };
  // Sorted, because a stored map has no order.
  const components = read.has('components') ? Object.entries(read.numbers('components')).sort() : [];
  return {
    ...(components.length > 0 ? { components: components.map(([name, quantity]) => ({ name, quantity })) } : {}),
    ...(Object.keys(unitPrices).length > 0 ? { unitPrices } : {}),
  };
}
