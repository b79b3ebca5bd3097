// acquire against raw conditional updates of one SDK client, and against rate-limiter-flexible on DynamoDB and Redis.
import { randomUUID } from 'node:crypto';
import {
  BatchWriteItemCommand,
  DynamoDB,
  DynamoDBClient,
  GetItemCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import rateLimiterFlexible from 'rate-limiter-flexible';
import { drive } from './load.mjs';
import { compare, measure } from './measure.mjs';
import { redisLimiter } from './redis.mjs';
import { acquireAll, newOrg } from './tenant.mjs';

const many = 10_000;
const hot = 'hot';
const resource = 'chat';
const limit = 'requests';
/** So large that no acquire is refused. */
const plenty = 1e12;
const windowSecs = 3600;
const onRedis = 'rate-limiter-flexible, Redis (not durable)';
const maxFillSeconds = 120;
const fillInFlight = 24;
const acquiresPerRequest = 5;

/** Returns the rows, the failed requests, and the figures that are not exact. */
export async function limits(stage, { seconds }) {
  const raw = rawUpdates(stage);
  const library = await libraryLimiter(stage);
  const redis = await redisLimiter({ points: plenty, durationSecs: windowSecs });
  if (!redis) console.error('redis-server is not installed: rate-limiter-flexible on Redis is left out');
  const gateway = await buckets(stage);
  const [filled] = await Promise.all([gateway.fill(), raw.fill(), library.fill()]);
  if (gateway.acknowledged.size < many)
    throw new Error(
      `only ${gateway.acknowledged.size} of ${many} buckets were created within ${maxFillSeconds} s: ` +
        `${filled.failures[0] ?? 'too slow'}`,
    );
  const [one, each] = ['one bucket', '10,000 buckets'];
  const { rows, failures } = await measure(
    stage,
    [
      { operation: `conditional update, ${one}`, by: 'raw SDK', isOwnProcess: true, send: () => raw.take(hot) },
      { operation: `conditional update, ${each}`, by: 'raw SDK', isOwnProcess: true, send: inTurn(raw.take) },
      {
        operation: `the gateway's own update, ${each}`,
        by: 'raw SDK',
        isOwnProcess: true,
        send: inTurn(raw.takeLikeGateway),
      },
      { operation: `consume, ${one}`, by: 'rate-limiter-flexible', isOwnProcess: true, send: () => library.take(hot) },
      { operation: `consume, ${each}`, by: 'rate-limiter-flexible', isOwnProcess: true, send: inTurn(library.take) },
      ...(redis
        ? [
            { operation: `consume, ${one}`, by: onRedis, isOwnProcess: true, send: () => redis.take(hot) },
            { operation: `consume, ${each}`, by: onRedis, isOwnProcess: true, send: inTurn(redis.take) },
          ]
        : []),
      { operation: `acquire, ${one}`, by: 'Tollgate', send: () => gateway.acquire(hot), warmUpSeconds: 3 },
      { operation: `acquire, ${each}`, by: 'Tollgate', send: inTurn(gateway.acquire) },
      { operation: `acquire and release, ${each}`, by: 'Tollgate', send: inTurn(gateway.acquireAndRelease) },
    ],
    { seconds },
  );
  const wrong = [...(await gateway.wrong()), ...(await raw.wrong())];
  raw.close();
  library.close();
  await redis?.close();
  const { shardCount } = await gateway.bucket(hot);
  const granted = [...gateway.acknowledged.values()].reduce((sum, count) => sum + count, 0);
  const rawSdk = (which) => ({ operation: which, by: 'raw SDK' });
  const byLibrary = (which) => ({ operation: `consume, ${which}`, by: 'rate-limiter-flexible' });
  return {
    rows: compare(rows, [
      { operation: `acquire, ${one}`, to: rawSdk(`conditional update, ${one}`), bar: 3 },
      { operation: `acquire, ${one}`, to: byLibrary(one), bar: 4 },
      { operation: `acquire, ${each}`, to: rawSdk(`conditional update, ${each}`), bar: 1.1 },
      { operation: `acquire, ${each}`, to: rawSdk(`conditional update, ${each}`), figure: 'totalCpu', bar: 0.77 },
      { operation: `acquire, ${each}`, figure: 'storeCalls', bar: 0.25 },
      {
        operation: `acquire, ${each}`,
        to: rawSdk(`the gateway's own update, ${each}`),
        title: 'the same update by the raw SDK',
      },
      { operation: `acquire, ${each}`, to: byLibrary(each) },
      { operation: `acquire, ${one}`, to: { ...byLibrary(one), by: onRedis } },
      { operation: `acquire, ${each}`, to: { ...byLibrary(each), by: onRedis } },
    ]),
    failures: [...filled.failures, ...failures],
    wrong,
    exactness:
      `the consumption of the one bucket (${shardCount} shards) and of 100 others ` +
      `with the grants (${granted} in total)`,
  };
}

const nameOf = (i) => `key-${i}`;
const names = Array.from({ length: many }, (_, i) => nameOf(i));

/** Uses the keys in turn, so that the calls in flight have different keys. */
function inTurn(send) {
  let next = 0;
  return () => send(nameOf(next++ % many));
}

const count = (map, name) => map.set(name, (map.get(name) ?? 0) + 1);

const acquireOne = `mutation Acquire($input: AcquireInput!) {
  acquire(input: $input) {
    __typename
    ... on Lease { leaseId degraded statuses { available exceeded } }
    ... on RateLimited { message retryAfterSecs }
  }
}`;
const release =
  'mutation Release($leaseId: String!) { releaseLease(leaseId: $leaseId) { replayed statuses { available } } }';
const setLimits = 'mutation ($input: SetLimitsInput!) { setLimits(input: $input) { version } }';
const bucketOf = `query ($orgId: UUID!, $entityId: String!, $resource: String!) {
  org(orgId: $orgId) { entity(entityId: $entityId) {
    bucket(resource: $resource) { shardCount limits { totalConsumed } }
  } }
}`;

/** The gateway, called over HTTP by an app of an org. */
async function buckets(stage) {
  const { client, asAdmin } = stage;
  const { orgId, headers } = await newOrg(stage);
  await client.request(asAdmin, setLimits, {
    input: { orgId, level: 'RESOURCE', resource, limits: [{ name: limit, capacity: plenty, refillPeriodSecs: 1 }] },
  });
  const acknowledged = new Map();
  const acquire = async (entityId) => {
    const { acquire: lease } = await client.request(headers, acquireOne, {
      input: { entityId, resource, consume: [{ limit, amount: 1 }] },
    });
    if (lease.__typename !== 'Lease' || lease.degraded) throw new Error(`not granted: ${JSON.stringify(lease)}`);
    count(acknowledged, entityId);
  };
  /** Acquires a token and releases it. */
  const acquireAndRelease = async (entityId) => {
    const { acquire: lease } = await client.request(headers, acquireOne, {
      input: { entityId, resource, consume: [{ limit, amount: 1 }] },
    });
    const { releaseLease: released } = await client.request(headers, release, { leaseId: lease.leaseId });
    if (released.replayed) throw new Error('the lease was released before');
  };
  const bucket = async (entityId) =>
    (await client.request(asAdmin, bucketOf, { orgId, entityId, resource })).org.entity.bucket;
  return {
    acknowledged,
    acquire,
    acquireAndRelease,
    bucket,
    /** Creates all buckets, because most acquires in real use are on an existing bucket. */
    async fill() {
      let next = 0;
      const send = async () => {
        const some = names.slice(next, next + acquiresPerRequest);
        next += acquiresPerRequest;
        const inputs = some.map((entityId) => ({ entityId, resource, consume: [{ limit, amount: 1 }] }));
        await acquireAll(stage, headers, inputs);
        for (const entityId of some) count(acknowledged, entityId);
      };
      return drive({ inFlight: fillInFlight, seconds: maxFillSeconds, maxCalls: many / acquiresPerRequest, send });
    },
    async wrong() {
      const wrong = [];
      for (const entityId of [hot, ...names.filter((_, i) => i % 100 === 0)]) {
        const [{ totalConsumed }] = (await bucket(entityId)).limits;
        const granted = acknowledged.get(entityId);
        if (totalConsumed !== granted) wrong.push(`bucket ${entityId}: ${totalConsumed} consumed, ${granted} granted`);
      }
      return wrong;
    },
  };
}

/** What a service without a gateway would do: a conditional update with the same limit, with a default SDK client. */
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
          ConditionExpression: 'fa <= :max',
          ExpressionAttributeValues: { ':cost': { N: '1' }, ':max': { N: String(plenty) } },
          ReturnValues: 'UPDATED_NEW',
        }),
      );
      count(acknowledged, name);
    },
    /** The same update as that of an acquire, on an item with the same layout: the share of the database alone. */
    takeLikeGateway: (name) =>
      client.send(
        new UpdateItemCommand({
          TableName,
          Key: keyOf(`like-${name}`),
          UpdateExpression: 'SET #ttl = :ttl ADD #fa :cost, #tc :cost, #wc :one, #ec :one',
          ConditionExpression: '#cv = :cv AND #bi = :bi AND #sc = :one AND #hw = :hw AND #fa >= :from AND #fa <= :max',
          ExpressionAttributeNames: Object.fromEntries(
            Object.entries({
              fa: 'f_0',
              tc: 'c_0',
              wc: 'wc',
              ec: 'ec',
              ttl: 'ttl',
              cv: 'cv',
              bi: 'bi',
              sc: 'sc',
              hw: 'hw',
            }).map(([name, attribute]) => [`#${name}`, attribute]),
          ),
          ExpressionAttributeValues: {
            ':cost': { N: '1000' },
            ':one': { N: '1' },
            ':from': { N: '0' },
            ':max': { N: String(plenty) },
            ':cv': { S: 'bench' },
            ':bi': { S: 'bench' },
            ':hw': { N: '490000' },
            ':ttl': { N: '1900000000' },
          },
          ReturnValues: 'UPDATED_NEW',
          ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
          ReturnConsumedCapacity: 'TOTAL',
        }),
      ),
    async fill() {
      await putAll(client, TableName, [hot, ...names], (name) => ({ ...keyOf(name), fa: { N: '0' }, tc: { N: '0' } }));
      await putAll(client, TableName, names, (name) => ({ ...keyOf(`like-${name}`), ...bucketAttributes }));
    },
    async wrong() {
      const { Item } = await client.send(new GetItemCommand({ TableName, Key: keyOf(hot), ConsistentRead: true }));
      const granted = acknowledged.get(hot) ?? 0;
      return Number(Item.tc.N) === granted ? [] : [`raw: ${Item.tc.N} consumed, ${granted} granted`];
    },
    close: () => client.destroy(),
  };
}

/** The attributes of a bucket item with one limit. */
const bucketAttributes = {
  s_0: { S: `${limit} 1000 1000 1000 1000` },
  ...Object.fromEntries(['f_0', 'c_0', 'h_0', 'sc', 'ec', 'wc', 'rs'].map((field) => [field, { N: '1' }])),
  eb: { N: '0' },
  hw: { N: '490000' },
  ttl: { N: '1900000000' },
  cv: { S: 'bench' },
  bi: { S: 'bench' },
  lv: { S: '0.0.1.0' },
};

/** The library as in its manual: its own table, and a fixed window per key. */
async function libraryLimiter({ store, tableName }) {
  const client = new DynamoDB(store);
  const table = tableName('rate_limiter_flexible');
  let limiter;
  await new Promise((resolve, reject) => {
    const options = { storeClient: client, tableName: table, keyPrefix: 'bench', points: plenty, duration: windowSecs };
    limiter = new rateLimiterFlexible.RateLimiterDynamo(options, (error) => (error ? reject(error) : resolve()));
  });
  const expire = { N: String(Date.now() / 1000 + windowSecs) };
  return {
    take: (name) => limiter.consume(name, 1),
    /** Creates windows that have started, like most windows in real use. */
    fill: () =>
      putAll(client, table, [hot, ...names], (name) => ({
        key: { S: limiter.getKey(name) },
        points: { N: '1' },
        expire,
      })),
    close: () => client.destroy(),
  };
}

const maxPerBatch = 25;

async function putAll(client, table, all, itemOf) {
  for (let from = 0; from < all.length; from += maxPerBatch) {
    const puts = all.slice(from, from + maxPerBatch).map((name) => ({ PutRequest: { Item: itemOf(name) } }));
    const { UnprocessedItems } = await client.send(new BatchWriteItemCommand({ RequestItems: { [table]: puts } }));
    if (Object.keys(UnprocessedItems ?? {}).length > 0) throw new Error('the engine left items unprocessed');
  }
}
