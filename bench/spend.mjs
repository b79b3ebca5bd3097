// submitCost against the same work done by hand: raw two-item transactions from one SDK client.
import { randomUUID } from 'node:crypto';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { BatchGetCommand, DynamoDBDocumentClient, TransactWriteCommand } from '@aws-sdk/lib-dynamodb';
import { drive, together } from './load.mjs';

// One round each; the first is longer because it takes thousands of requests until the compilers have done their work.
const warmUpSeconds = [4, 1];
const mostARound = 200_000;
const manyOrgs = 100;
const rawShards = 8;
const usage = { inputTokens: 1500, outputTokens: 800 };
const cost = 16_500; // of that usage at the default price of `premium`
const bars = { 'one org': 3, '100 orgs': 0.7 };

/** Measures, prints, and says how much failed. */
export async function spend(stage, { seconds, inFlight }) {
  const orgs = [];
  for (let i = 0; i <= manyOrgs; i++) orgs.push(await newOrg(stage));
  const [single, ...many] = orgs;
  const raw = rawTransactions(stage);
  const phases = [
    { name: 'raw', send: raw.send, runs: [] },
    { name: 'one org', send: () => submit(stage, single), runs: [] },
    { name: `${manyOrgs} orgs`, send: () => submit(stage, many[Math.floor(Math.random() * many.length)]), runs: [] },
  ];
  const warmUps = [];
  for (const warmUp of warmUpSeconds) {
    for (const { send, runs } of phases) {
      warmUps.push(await drive({ inFlight, seconds: warmUp, most: mostARound, send }));
      const [cpuBefore, unitsBefore] = [stage.cpu(), await stage.writeUnits()];
      const run = await drive({ inFlight, seconds, most: mostARound, send });
      const cpuAfter = stage.cpu();
      runs.push({ ...run, units: (await stage.writeUnits()) - unitsBefore, cpu: difference(cpuAfter, cpuBefore) });
    }
  }
  const results = phases.map(({ name, runs }) => ({ name, runs, ...together(runs) }));
  printTable(results);
  const failures = [...results, ...warmUps].flatMap((result) => result.failures);
  for (const failure of failures.slice(0, 3)) console.log(`failed: ${failure?.stack ?? failure}`);
  const wrong = [...(await wrongOrgs(stage, orgs)), ...(await raw.wrong())];
  for (const fault of wrong.slice(0, 5)) console.log(`not exact: ${fault}`);
  raw.close();
  const acknowledged = orgs.flatMap((org) => [...org.acknowledged.values()]).reduce((sum, { requests }) => sum + requests, 0);
  console.log(
    `exactness: ${wrong.length === 0 ? 'yes' : 'NO'}; EXACT spend of ${orgs.length} orgs against ${acknowledged} acknowledged costs, warm-ups included`,
  );
  console.log(`failed requests: ${failures.length}`);
  return failures.length + wrong.length;
}

async function newOrg({ client, asAdmin }) {
  const { registerOrg } = await client.ask(asAdmin, 'mutation ($input: RegisterOrgInput!) { registerOrg(input: $input) { org { orgId } } }', {
    input: { name: 'Bench', timezone: 'UTC', quotaScope: 'APP', modelOrdering: ['premium'], quotas: [{ label: 'premium', dailyUsdMicros: 1e12 }] },
  });
  const { orgId } = registerOrg.org;
  const { registerApp } = await client.ask(asAdmin, 'mutation ($input: RegisterAppInput!) { registerApp(input: $input) { secretRetrieval { token } } }', {
    input: { orgId, appId: 'chat', name: 'Chat' },
  });
  const { retrieveSecret } = await client.ask({}, 'mutation ($token: String!) { retrieveSecret(token: $token) { clientId clientSecret } }', {
    token: registerApp.secretRetrieval.token,
  });
  const { issueToken } = await client.ask({}, 'mutation ($input: IssueTokenInput!) { issueToken(input: $input) { accessToken } }', { input: retrieveSecret });
  return { orgId, headers: { authorization: `Bearer ${issueToken.accessToken}` }, acknowledged: new Map() };
}

const submitCost = 'mutation SubmitCost($input: SubmitCostInput!) { submitCost(input: $input) { requestId replayed label day costUsdMicros priceSource } }';

async function submit({ client }, { headers, acknowledged }) {
  const requestId = randomUUID();
  const { submitCost: receipt } = await client.ask(headers, submitCost, { input: { requestId, modelLabel: 'premium', ...usage } });
  const day = acknowledged.get(receipt.day) ?? { costUsdMicros: 0, requests: 0 };
  day.costUsdMicros += receipt.costUsdMicros;
  day.requests += 1;
  acknowledged.set(receipt.day, day);
  if (receipt.requestId !== requestId || receipt.replayed || receipt.costUsdMicros !== cost) throw new Error(`a wrong receipt: ${JSON.stringify(receipt)}`);
}

const exactSpend = `query ($orgId: UUID!, $day: LocalDate!) {
  org(orgId: $orgId) { spend(day: $day, consistency: EXACT) { labels { costUsdMicros requests } } }
}`;

async function wrongOrgs({ client, asAdmin }, orgs) {
  const wrong = [];
  for (const { orgId, acknowledged } of orgs) {
    for (const [day, expected] of acknowledged) {
      const { org } = await client.ask(asAdmin, exactSpend, { orgId, day });
      const costUsdMicros = org.spend.labels.reduce((sum, label) => sum + label.costUsdMicros, 0);
      const requests = org.spend.labels.reduce((sum, label) => sum + label.requests, 0);
      if (costUsdMicros !== expected.costUsdMicros || requests !== expected.requests)
        wrong.push(`org ${orgId} on ${day}: ${costUsdMicros} of ${requests}, acknowledged ${expected.costUsdMicros} of ${expected.requests}`);
    }
  }
  return wrong;
}

/** What a service without a gateway would do: the request item if absent and the sum, in one transaction; the client as it comes. */
function rawTransactions({ store, tableName }) {
  const low = new DynamoDBClient(store);
  const client = DynamoDBDocumentClient.from(low);
  const [requests, shards] = [tableName('cost_requests'), tableName('usage_agg_sharded')];
  const orgId = randomUUID();
  const day = new Date().toISOString().slice(0, 10);
  const shardKey = (shard) => ({ PK: `ORG#${orgId}#APP#chat#LABEL#premium#SH#${shard}`, SK: `DAY#${day.replaceAll('-', '')}` });
  const expiry = Math.floor(Date.now() / 1000) + 35 * 86_400;
  const figures = { cost_usd_micros: cost, input_tokens: usage.inputTokens, output_tokens: usage.outputTokens, requests: 1 };
  let acknowledged = 0;
  return {
    async send() {
      const requestId = randomUUID();
      const shard = Math.floor(Math.random() * rawShards);
      const Item = { PK: `ORG#${orgId}#REQ#${requestId}`, request_id: requestId, org_id: orgId, app_id: 'chat', model_label: 'premium', day, ...figures };
      await client.send(
        new TransactWriteCommand({
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
                ExpressionAttributeValues: { ':cost': cost, ':input': usage.inputTokens, ':output': usage.outputTokens, ':one': 1 },
              },
            },
          ],
        }),
      );
      acknowledged++;
    },
    async wrong() {
      const Keys = Array.from({ length: rawShards }, (_, shard) => shardKey(shard));
      const { Responses } = await client.send(new BatchGetCommand({ RequestItems: { [shards]: { Keys, ConsistentRead: true } } }));
      const counted = Responses[shards].reduce((sum, item) => sum + item.requests, 0);
      return counted === acknowledged ? [] : [`raw: ${counted}, acknowledged ${acknowledged}`];
    },
    close: () => low.destroy(),
  };
}

const difference = (after, before) => Object.fromEntries(Object.keys(after).map((name) => [name, after[name] - before[name]]));

function printTable(results) {
  const [raw] = results;
  const total = (runs, pick) => runs.reduce((sum, run) => sum + pick(run), 0);
  const rows = results.map(({ name, runs, count, perSecond, p50, p99 }) => {
    const cpu = ['gateway', 'engine', 'load'].map((who) => total(runs, (run) => run.cpu[who]));
    const ratio = perSecond / raw.perSecond;
    const bar = bars[name];
    return [
      name,
      String(count),
      perSecond.toFixed(0),
      runs.map((run) => (run.latencies.length / run.seconds).toFixed(0)).join(' '),
      p50.toFixed(1),
      p99.toFixed(1),
      ...cpu.map((seconds) => `${seconds.toFixed(1)} (${((seconds * 1000) / count).toFixed(2)})`),
      name === raw.name ? '' : (total(runs, (run) => run.units) / count).toFixed(2),
      ratio.toFixed(2),
      bar === undefined ? '' : `>= ${bar}: ${ratio >= bar ? 'met' : 'MISSED'}`,
    ];
  });
  const head = [
    'phase',
    'requests',
    'req/s',
    'by round',
    'p50 ms',
    'p99 ms',
    'gateway CPU s (ms/req)',
    'engine CPU s',
    'load CPU s',
    'write units',
    'x raw',
    'bar',
  ];
  const widths = head.map((title, column) => Math.max(title.length, ...rows.map((row) => row[column].length)));
  for (const row of [head, ...rows])
    console.log(row.map((cell, column) => (column === 0 ? cell.padEnd(widths[column]) : cell.padStart(widths[column]))).join('  '));
}
