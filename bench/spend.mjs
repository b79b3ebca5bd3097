// submitCost, modelSelection and spend against the same work by raw calls of one SDK client.
import { randomUUID } from 'node:crypto';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { BatchGetCommand, DynamoDBDocumentClient, TransactWriteCommand } from '@aws-sdk/lib-dynamodb';
import { leanTransport } from '../dist/dynamo/lean-transport.js';
import { systemClock } from '../dist/lib/clock.js';
import { compare, measure } from './measure.mjs';
import { newOrg } from './tenant.mjs';

const manyOrgs = 100;
const rawShards = 8;
/** The same calls without the SDK's own CPU. */
const lean = 'lean transport';
const usage = { inputTokens: 1500, outputTokens: 800 };
const cost = 16_500; // the cost of this usage at the default price of `premium`

/** Returns the rows, the failed requests, and the figures that are not exact. */
export async function spend(stage, { seconds }) {
  const orgs = [];
  for (let i = 0; i <= manyOrgs; i++) orgs.push({ ...(await newOrg(stage)), acknowledged: new Map() });
  const [single, ...many] = orgs;
  const raw = rawTransactions(stage);
  const submitting = await measure(
    stage,
    [
      { operation: 'two-item transaction', by: 'raw SDK', isOwnProcess: true, send: () => raw.send(raw.bySdk) },
      { operation: 'two-item transaction', by: lean, isOwnProcess: true, send: () => raw.send(raw.byLean) },
      { operation: 'submitCost, one org', by: 'Tollgate', send: () => submit(stage, single), warmUpSeconds: 4 },
      {
        operation: 'submitCost, 100 orgs',
        by: 'Tollgate',
        send: () => submit(stage, many[Math.floor(Math.random() * many.length)]),
      },
    ],
    { seconds },
  );
  const reading = await measure(
    stage,
    [
      { operation: 'read of two items', by: 'raw SDK', isOwnProcess: true, send: raw.read },
      { operation: 'modelSelection', by: 'Tollgate', send: () => stage.client.request(single.headers, selection) },
      { operation: 'spend of an app', by: 'Tollgate', send: () => stage.client.request(single.headers, spendToday) },
    ],
    { seconds: seconds / 2 },
  );
  const wrong = [...(await wrongOrgs(stage, orgs)), ...(await raw.wrong())];
  raw.close();
  const rawWrite = { operation: 'two-item transaction', by: 'raw SDK' };
  const rawRead = { operation: 'read of two items', by: 'raw SDK' };
  const rows = compare(
    [...submitting.rows, ...reading.rows],
    [
      { operation: 'submitCost, one org', to: rawWrite, bar: 3 },
      { operation: 'submitCost, one org', to: rawWrite, figure: 'totalCpu' },
      { operation: 'submitCost, 100 orgs', to: rawWrite, bar: 1.2 },
      { operation: 'submitCost, one org', to: { ...rawWrite, by: lean } },
      { operation: 'modelSelection', to: rawRead },
      { operation: 'spend of an app', to: rawRead },
    ],
  );
  const acknowledged = orgs
    .flatMap((org) => [...org.acknowledged.values()])
    .reduce((sum, { requests }) => sum + requests, 0);
  return {
    rows,
    failures: [...submitting.failures, ...reading.failures],
    wrong,
    exactness: `the EXACT spend of ${orgs.length} orgs with ${acknowledged} acknowledged costs`,
  };
}

const selection = '{ me { app { modelSelection { allowed label bedrockModelId mode recheckAfterSecs resetsAt } } } }';
const spendToday =
  '{ me { app { spend { day costUsdMicros requests ' +
  'labels { label costUsdMicros quotaUsdMicros quotaPct mode asOf } } } } }';
const submitCost =
  'mutation SubmitCost($input: SubmitCostInput!) { ' +
  'submitCost(input: $input) { requestId replayed label day costUsdMicros priceSource } }';

/** Submits a cost of an org, which must be acknowledged, and adds it to the acknowledged costs of the org. */
export async function submit({ client }, { headers, acknowledged }) {
  const requestId = randomUUID();
  const { submitCost: receipt } = await client.request(headers, submitCost, {
    input: { requestId, modelLabel: 'premium', ...usage },
  });
  const day = acknowledged.get(receipt.day) ?? { costUsdMicros: 0, requests: 0 };
  day.costUsdMicros += receipt.costUsdMicros;
  day.requests += 1;
  acknowledged.set(receipt.day, day);
  if (receipt.requestId !== requestId || receipt.replayed || receipt.costUsdMicros !== cost)
    throw new Error(`wrong receipt: ${JSON.stringify(receipt)}`);
}

const exactSpend = `query ($orgId: UUID!, $day: LocalDate!) {
  org(orgId: $orgId) { spend(day: $day, consistency: EXACT) { labels { costUsdMicros requests } } }
}`;

/** The orgs whose EXACT spend differs from the acknowledged costs. */
export async function wrongOrgs({ client, asAdmin }, orgs) {
  const wrong = [];
  for (const { orgId, acknowledged } of orgs) {
    for (const [day, expected] of acknowledged) {
      const { org } = await client.request(asAdmin, exactSpend, { orgId, day });
      const costUsdMicros = org.spend.labels.reduce((sum, label) => sum + label.costUsdMicros, 0);
      const requests = org.spend.labels.reduce((sum, label) => sum + label.requests, 0);
      if (costUsdMicros !== expected.costUsdMicros || requests !== expected.requests)
        wrong.push(
          `org ${orgId} on ${day}: ${costUsdMicros} micro-dollars in ${requests} requests, ` +
            `acknowledged ${expected.costUsdMicros} in ${expected.requests}`,
        );
    }
  }
  return wrong;
}

/**
 * What a service without a gateway would do: put the request item if it is absent and add to the sum, in one
 * transaction, with a default SDK client or by the lean transport.
 */
function rawTransactions({ store, tableName }) {
  const base = new DynamoDBClient(store);
  const client = DynamoDBDocumentClient.from(base);
  const transport = leanTransport(store, systemClock);
  const [requests, shards] = [tableName('cost_requests'), tableName('usage_agg_sharded')];
  const orgId = randomUUID();
  const day = new Date().toISOString().slice(0, 10);
  const shardKey = (shard) => ({
    PK: `ORG#${orgId}#APP#chat#LABEL#premium#SH#${shard}`,
    SK: `DAY#${day.replaceAll('-', '')}`,
  });
  const expiry = Math.floor(Date.now() / 1000) + 35 * 86_400;
  const figures = {
    cost_usd_micros: cost,
    input_tokens: usage.inputTokens,
    output_tokens: usage.outputTokens,
    requests: 1,
  };
  let acknowledged = 0;
  return {
    bySdk: (input) => client.send(new TransactWriteCommand(input)),
    byLean: (input) => transport.send('transact', input),
    async send(transact) {
      const requestId = randomUUID();
      const shard = Math.floor(Math.random() * rawShards);
      const Item = {
        PK: `ORG#${orgId}#REQ#${requestId}`,
        request_id: requestId,
        org_id: orgId,
        app_id: 'chat',
        model_label: 'premium',
        day,
        ...figures,
      };
      await transact({
        TransactItems: [
          {
            Put: {
              TableName: requests,
              Item: { ...Item, price_source: 'DEFAULT', shard, expires_at_epoch: expiry },
              ConditionExpression: 'attribute_not_exists(PK)',
            },
          },
          {
            Update: {
              TableName: shards,
              Key: shardKey(shard),
              UpdateExpression: 'ADD cost_usd_micros :cost, input_tokens :input, output_tokens :output, requests :one',
              ExpressionAttributeValues: {
                ':cost': cost,
                ':input': usage.inputTokens,
                ':output': usage.outputTokens,
                ':one': 1,
              },
            },
          },
        ],
      });
      acknowledged++;
    },
    read: () => client.send(new BatchGetCommand({ RequestItems: { [shards]: { Keys: [shardKey(0), shardKey(1)] } } })),
    async wrong() {
      const Keys = Array.from({ length: rawShards }, (_, shard) => shardKey(shard));
      const { Responses } = await client.send(
        new BatchGetCommand({ RequestItems: { [shards]: { Keys, ConsistentRead: true } } }),
      );
      const counted = Responses[shards].reduce((sum, item) => sum + item.requests, 0);
      return counted === acknowledged ? [] : [`raw: ${counted} stored, ${acknowledged} acknowledged`];
    },
    close() {
      base.destroy();
      transport.close();
    },
  };
}
