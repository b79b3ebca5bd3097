// The CPU of a DynamoDB call in the caller: the lean transport against the SDK, in this process, on the same items.
import { leanTransport } from '../dist/dynamo/lean-transport.js';
import { sdkTransport } from '../dist/dynamo/transport.js';
import { systemClock } from '../dist/lib/clock.js';
import { compare, measure } from './measure.mjs';

const inFlight = 16;
const maxShare = 0.3;
const attributes = {
  cost_usd_micros: 16_500,
  input_tokens: 1500,
  output_tokens: 800,
  requests: 1,
  label: 'premium',
  note: 'of the benchmarks',
};

/** Returns rows with the CPU per call of each transport, and the ratio between them. */
export async function transport(stage, { seconds }) {
  const transports = { SDK: sdkTransport(stage.store), 'lean transport': leanTransport(stage.store, systemClock) };
  const TableName = stage.tableName('daily_total');
  const keyOf = (i) => ({ PK: `TRANSPORT#${i % 100}`, SK: 'DAY#20260101' });
  for (let i = 0; i < 100; i++) await transports.SDK.send('put', { TableName, Item: { ...keyOf(i), ...attributes } });
  let next = 0;
  const calls = {
    get: () => ({ TableName, Key: keyOf(next++), ConsistentRead: true }),
    batchGet: () => ({ RequestItems: { [TableName]: { Keys: Array.from({ length: 4 }, () => keyOf(next++)) } } }),
    query: () => ({
      TableName,
      KeyConditionExpression: '#p = :p',
      ExpressionAttributeNames: { '#p': 'PK' },
      ExpressionAttributeValues: { ':p': keyOf(next++).PK },
    }),
    update: () => ({
      TableName,
      Key: keyOf(next++),
      ...change,
      ConditionExpression: '#r >= :one',
      ReturnValues: 'UPDATED_NEW',
    }),
    transact: () => ({ TransactItems: [1, 2].map(() => ({ Update: { TableName, Key: keyOf(next++), ...change } })) }),
  };
  const names = Object.keys(calls);
  const rows = [];
  const failures = [];
  for (const name of names) {
    const phases = Object.entries(transports).map(([by, opened]) => ({
      operation: `store call: ${name}`,
      by,
      isOwnProcess: true,
      send: () => opened.send(name, calls[name]()),
    }));
    const measured = await measure(stage, phases, { seconds: seconds / 2, inFlight: [inFlight] });
    rows.push(...measured.rows);
    failures.push(...measured.failures);
  }
  for (const opened of Object.values(transports)) opened.close();
  const comparisons = names.map((name) => ({
    operation: `store call: ${name}`,
    by: 'lean transport',
    to: { by: 'SDK' },
    figure: 'ownCpu',
    bar: maxShare,
    at: inFlight,
  }));
  return { rows: compare(rows, comparisons), failures, wrong: [] };
}

const change = {
  UpdateExpression: 'ADD #r :one, #c :cost',
  ExpressionAttributeNames: { '#r': 'requests', '#c': 'cost_usd_micros' },
  ExpressionAttributeValues: { ':one': 1, ':cost': 16_500 },
};
