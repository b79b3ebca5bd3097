// acquire against the same work done by hand, raw conditional updates from one SDK client, and against rate-limiter-flexible.
import { randomUUID } from 'node:crypto';
import { BatchWriteItemCommand, DynamoDB, DynamoDBClient, GetItemCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import rateLimiterFlexible from 'rate-limiter-flexible';
import { drive, together } from './load.mjs';
import { difference, printTable } from './report.mjs';
import { newOrg } from './tenant.mjs';

const many = 10_000;
const hot = 'hot';
const resource = 'chat';
const limit = 'requests';
/** So much that nothing is ever refused. */
const plenty = 1e12;
const mostARound = 100_000;
const mostSecondsToFill = 60;
const acquiresARequest = 5;
const rounds = 2;
// The gateway's first is longer because it takes thousands of requests until the compilers have done their work.
const warmUpSeconds = { first: 1, ofOneBucket: 3, later: 0.3 };
const barsToRaw = { 'one bucket': 3, '10,000 buckets': 0.7 };
const barsToLibrary = { 'one bucket': 4 };

/** Measures, prints, and says how much failed. */
export async function limits(stage, { seconds, inFlight }) {
  // There are twice as many phases as elsewhere and buckets to make first: so that all of it takes less than a minute, a quarter is enough.
  const roundSeconds = seconds / 4;
  const raw = rawUpdates(stage);
  const library = await libraryLimiter(stage);
  const gateway = await buckets(stage);
  const [filled] = await Promise.all([gateway.fill(inFlight), raw.fill(), library.fill()]);
  if (gateway.acknowledged.size < many)
    throw new Error(`only ${gateway.acknowledged.size} of ${many} buckets were made within ${mostSecondsToFill} s: ${filled.failures[0] ?? 'too slow'}`);
  const phases = [
    { name: 'raw, one key', isByHand: true, send: () => raw.take(hot), first: warmUpSeconds.first },
    { name: 'raw, 10,000 keys', isByHand: true, send: inTurn(raw.take), first: warmUpSeconds.first },
    { name: 'one bucket', send: () => gateway.acquire(hot), first: warmUpSeconds.ofOneBucket, pair: 'library, one key' },
    { name: '10,000 buckets', send: inTurn(gateway.acquire), first: warmUpSeconds.first, pair: 'library, 10,000 keys' },
    { name: 'library, one key', isByHand: true, send: () => library.take(hot), first: warmUpSeconds.first },
    { name: 'library, 10,000 keys', isByHand: true, send: inTurn(library.take), first: warmUpSeconds.first },
  ].map((phase) => ({ ...phase, runs: [] }));
  const warmUps = [filled];
  for (let round = 0; round < rounds; round++) {
    for (const { send, runs, first } of phases) {
      warmUps.push(await drive({ inFlight, seconds: round === 0 ? first : warmUpSeconds.later, most: mostARound, send }));
      const [cpuBefore, unitsBefore] = [stage.cpu(), await stage.writeUnits()];
      const run = await drive({ inFlight, seconds: roundSeconds, most: mostARound, send });
      const cpuAfter = stage.cpu();
      runs.push({ ...run, units: (await stage.writeUnits()) - unitsBefore, cpu: difference(cpuAfter, cpuBefore) });
    }
  }
  const results = phases.map(({ send, ...phase }) => ({ ...phase, ...together(phase.runs) }));
  const [rawOne, rawMany] = results;
  const yardstick = rawOne.perSecond > rawMany.perSecond ? rawOne : rawMany;
  printTable(results, [
    { title: 'x raw', of: () => yardstick, bars: barsToRaw },
    { title: 'x library', of: ({ pair }) => results.find(({ name }) => name === pair), bars: barsToLibrary },
  ]);
  console.log(
    `${roundSeconds} s a round; raw is the faster of its two, "${yardstick.name}"; library is rate-limiter-flexible on as many keys as there are buckets`,
  );
  const failures = [...results, ...warmUps].flatMap((result) => result.failures);
  for (const failure of failures.slice(0, 3)) console.log(`failed: ${failure?.stack ?? failure}`);
  const wrong = [...(await gateway.wrong()), ...(await raw.wrong())];
  for (const fault of wrong.slice(0, 5)) console.log(`not exact: ${fault}`);
  raw.close();
  library.close();
  const { shardCount } = await gateway.bucket(hot);
  const granted = [...gateway.acknowledged.values()].reduce((sum, count) => sum + count, 0);
  console.log(
    `exactness: ${wrong.length === 0 ? 'yes' : 'NO'}; what the one bucket (${shardCount} shards) and 100 others consumed against what they granted, ${granted} in all, warm-ups included`,
  );
  console.log(`failed requests: ${failures.length}`);
  return failures.length + wrong.length;
}

const nameOf = (i) => `key-${i}`;
const names = Array.from({ length: many }, (_, i) => nameOf(i));

/** Each of the keys in its turn: evenly, and those in flight are all different. */
function inTurn(send) {
  let next = 0;
  return () => send(nameOf(next++ % many));
}

const count = (map, name) => map.set(name, (map.get(name) ?? 0) + 1);

const acquireOne = `mutation Acquire($input: AcquireInput!) {
  acquire(input: $input) { __typename ... on Lease { leaseId degraded statuses { available exceeded } } ... on RateLimited { message retryAfterSecs } }
}`;
const setLimits = 'mutation ($input: SetLimitsInput!) { setLimits(input: $input) { version } }';
const bucketOf = `query ($orgId: UUID!, $entityId: String!, $resource: String!) {
  org(orgId: $orgId) { entity(entityId: $entityId) { bucket(resource: $resource) { shardCount limits { totalConsumed } } } }
}`;

/** The gateway, asked by an app of an org over HTTP. */
async function buckets(stage) {
  const { client, asAdmin } = stage;
  const { orgId, headers } = await newOrg(stage);
  await client.ask(asAdmin, setLimits, { input: { orgId, level: 'RESOURCE', resource, limits: [{ name: limit, capacity: plenty, refillPeriodSecs: 1 }] } });
  const acknowledged = new Map();
  const acquire = async (entityId) => {
    const { acquire: lease } = await client.ask(headers, acquireOne, { input: { entityId, resource, consume: [{ limit, amount: 1 }] } });
    if (lease.__typename !== 'Lease' || lease.degraded) throw new Error(`not granted: ${JSON.stringify(lease)}`);
    count(acknowledged, entityId);
  };
  const bucket = async (entityId) => (await client.ask(asAdmin, bucketOf, { orgId, entityId, resource })).org.entity.bucket;
  return {
    acknowledged,
    acquire,
    bucket,
    /** Each bucket once: one that is there is the rule in real use. Several a request, to be done with it soon. */
    async fill(inFlight) {
      const variables = Array.from({ length: acquiresARequest }, (_, i) => `$i${i}: AcquireInput!`).join(', ');
      const fields = Array.from({ length: acquiresARequest }, (_, i) => `a${i}: acquire(input: $i${i}) { __typename }`).join(' ');
      let next = 0;
      const send = async () => {
        const some = names.slice(next, next + acquiresARequest);
        next += acquiresARequest;
        const inputs = Object.fromEntries(some.map((entityId, i) => [`i${i}`, { entityId, resource, consume: [{ limit, amount: 1 }] }]));
        const leases = Object.values(await client.ask(headers, `mutation (${variables}) { ${fields} }`, inputs));
        if (leases.some(({ __typename }) => __typename !== 'Lease')) throw new Error('not granted');
        for (const entityId of some) count(acknowledged, entityId);
      };
      return drive({ inFlight, seconds: mostSecondsToFill, most: many / acquiresARequest, send });
    },
    async wrong() {
      const wrong = [];
      for (const entityId of [hot, ...names.filter((_, i) => i % 100 === 0)]) {
        const [{ totalConsumed }] = (await bucket(entityId)).limits;
        const granted = acknowledged.get(entityId);
        if (totalConsumed !== granted) wrong.push(`bucket ${entityId}: ${totalConsumed} consumed, granted ${granted}`);
      }
      return wrong;
    },
  };
}

/** What a service without a gateway would do: the same ceiling in the write's own condition; the client as it comes. */
function rawUpdates({ store, tableName }) {
  const client = new DynamoDBClient(store);
  const TableName = tableName('limiter');
  const run = randomUUID();
  const keyOf = (name) => ({ PK: { S: `${run}/BUCKET#${name}#${resource}#0` }, SK: { S: '#STATE' } });
  const acknowledged = new Map();
  return {
    async take(name) {
      await client.send(
        new UpdateItemCommand({
          TableName,
          Key: keyOf(name),
          UpdateExpression: 'ADD fa :cost, tc :cost',
          ConditionExpression: 'fa <= :most',
          ExpressionAttributeValues: { ':cost': { N: '1' }, ':most': { N: String(plenty) } },
          ReturnValues: 'UPDATED_NEW',
        }),
      );
      count(acknowledged, name);
    },
    fill: () => putAll(client, TableName, [hot, ...names], (name) => ({ ...keyOf(name), fa: { N: '0' }, tc: { N: '0' } })),
    async wrong() {
      const { Item } = await client.send(new GetItemCommand({ TableName, Key: keyOf(hot), ConsistentRead: true }));
      const granted = acknowledged.get(hot) ?? 0;
      return Number(Item.tc.N) === granted ? [] : [`raw: ${Item.tc.N}, granted ${granted}`];
    },
    close: () => client.destroy(),
  };
}

/** The library as its manual has it: its own table, a window of a fixed length for each key. */
async function libraryLimiter({ store, tableName }) {
  const client = new DynamoDB(store);
  const table = tableName('rate_limiter_flexible');
  const duration = 3600;
  let limiter;
  await new Promise((resolve, reject) => {
    const options = { storeClient: client, tableName: table, keyPrefix: 'bench', points: plenty, duration };
    limiter = new rateLimiterFlexible.RateLimiterDynamo(options, (error) => (error ? reject(error) : resolve()));
  });
  const expire = { N: String(Date.now() / 1000 + duration) };
  return {
    take: (name) => limiter.consume(name, 1),
    /** Windows that have begun, as most have in real use. */
    fill: () => putAll(client, table, [hot, ...names], (name) => ({ key: { S: limiter.getKey(name) }, points: { N: '1' }, expire })),
    close: () => client.destroy(),
  };
}

const mostABatch = 25;

async function putAll(client, table, all, itemOf) {
  for (let from = 0; from < all.length; from += mostABatch) {
    const puts = all.slice(from, from + mostABatch).map((name) => ({ PutRequest: { Item: itemOf(name) } }));
    const { UnprocessedItems } = await client.send(new BatchWriteItemCommand({ RequestItems: { [table]: puts } }));
    if (Object.keys(UnprocessedItems ?? {}).length > 0) throw new Error('the engine did not take all items');
  }
}
