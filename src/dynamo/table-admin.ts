import {
  CreateTableCommand,
  type CreateTableCommandInput,
  DescribeContinuousBackupsCommand,
  DescribeTimeToLiveCommand,
  type DynamoDBClient,
  GetItemCommand,
  type TableDescription,
  UpdateContinuousBackupsCommand,
  UpdateItemCommand,
  UpdateTimeToLiveCommand,
} from '@aws-sdk/client-dynamodb';
import { systemClock } from '../lib/clock.js';
import { sleep } from '../lib/timers.js';
import { addMissingIndexes, attributeDefinitions, describe, indexSchemas, keySchema } from './table-indexes.js';
import { definitionOf, type TableDefinition, type TableName, tableNames } from './tables.js';
import { versionKey } from './version-item.js';

/**
 * Increment it with each change of tables, and of items that older code cannot read. Version 3 changed the bucket items
 * and the keys of leases and usage. Version 4 added the index of `cost_requests`, which older tables get by `migrate`.
 * Version 5 writes a cost as one JSON text, and added what is held of HARD quotas, which older processes do not count.
 * Version 6 stores readings in segments. It has other bucket items, the directory of buckets, and the change counter in
 * table `config`. Stores of version 5 and older must be recreated.
 */
export const schemaVersion = 6;
/** The oldest schema version that this program can read. */
const oldestReadable = 6;

const [backupsReadyMs, maxAttempts] = [1000, 120];

const versionItemKey = { PK: { S: versionKey.PK }, SK: { S: versionKey.SK } };

export interface TableAdmin {
  readonly client: DynamoDBClient;
  readonly prefix: string;
  /** Turn on point-in-time recovery and deletion protection, which only Amazon DynamoDB has. */
  readonly protect: boolean;
}

export function tableSchema(definition: TableDefinition) {
  const indexes = indexSchemas(definition);
  return {
    AttributeDefinitions: attributeDefinitions(definition),
    KeySchema: keySchema(definition.partitionKey, definition.sortKey),
    ...(indexes.length > 0 ? { GlobalSecondaryIndexes: indexes } : {}),
    BillingMode: 'PAY_PER_REQUEST' as const,
  } satisfies Partial<CreateTableCommandInput>;
}

/**
 * Creates the missing tables, and the missing indexes of tables of an older version. Idempotent. Returns the names of
 * the created tables. The version comes last, so that an interrupted run is repeated.
 */
export async function createTables(admin: TableAdmin): Promise<TableName[]> {
  const found = await refuseUnreadable(admin);
  const made: TableName[] = [];
  await Promise.all(
    tableNames.map(async (name) => {
      if (await createTable(admin, name)) made.push(name);
    }),
  );
  await stampVersion(admin);
  // Tables without a version have never been used, so no older process can be running.
  if (found === 0) await stampMinVersion(admin);
  return made.sort();
}

async function createTable(admin: TableAdmin, name: TableName): Promise<boolean> {
  const { client, prefix, protect } = admin;
  const TableName = prefix + name;
  const definition = definitionOf(name);
  const existing = await describe(client, TableName);
  if (!existing) {
    try {
      await client.send(
        new CreateTableCommand({
          TableName,
          ...tableSchema(definition),
          ...(protect ? { DeletionProtectionEnabled: true } : {}),
        }),
      );
    } catch (error) {
      // Another process created the table first.
      if ((error as Error).name !== 'ResourceInUseException') throw error;
    }
  }
  await addMissingIndexes(client, TableName, definition);
  if (definition.ttl) await enableTtl(client, TableName, definition.ttl);
  if (protect) await enableRecovery(client, TableName);
  return !existing;
}

async function enableRecovery(client: DynamoDBClient, TableName: string): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      const { ContinuousBackupsDescription } = await client.send(new DescribeContinuousBackupsCommand({ TableName }));
      if (ContinuousBackupsDescription?.PointInTimeRecoveryDescription?.PointInTimeRecoveryStatus === 'ENABLED') return;
      await client.send(
        new UpdateContinuousBackupsCommand({
          TableName,
          PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
        }),
      );
      return;
    } catch (error) {
      const { name, message } = error as Error;
      // DynamoDB needs some time after a table is created before backups can be turned on.
      if (name !== 'ContinuousBackupsUnavailableException' || attempt === maxAttempts)
        throw new Error(
          `${TableName}: failed to turn on point-in-time recovery (${name}: ${message}); run \`tollgate tables ` +
            `create\` again`,
          {
            cause: error,
          },
        );
      await sleep(backupsReadyMs);
    }
  }
}

async function enableTtl(client: DynamoDBClient, TableName: string, AttributeName: string): Promise<void> {
  const { TimeToLiveDescription } = await client.send(new DescribeTimeToLiveCommand({ TableName }));
  if (TimeToLiveDescription?.TimeToLiveStatus === 'ENABLED' || TimeToLiveDescription?.TimeToLiveStatus === 'ENABLING')
    return;
  try {
    await client.send(
      new UpdateTimeToLiveCommand({ TableName, TimeToLiveSpecification: { AttributeName, Enabled: true } }),
    );
  } catch (error) {
    if (!/already enabled/i.test((error as Error).message)) throw error;
  }
}

/** The reasons why these tables cannot be used, one sentence each. Empty if they can. */
export async function checkTables({ client, prefix }: TableAdmin): Promise<string[]> {
  const faults = await Promise.all(
    tableNames.map(async (name) => {
      const found = await describe(client, prefix + name);
      return found
        ? schemaFaults(prefix + name, found, definitionOf(name))
        : [`${prefix}${name}: missing; run \`tollgate tables create\``];
    }),
  );
  const all = faults.flat();
  return all.length > 0 ? all : versionFaults(await readVersion(client, prefix));
}

function schemaFaults(name: string, found: TableDescription, wanted: TableDefinition): string[] {
  const shape = (keys: TableDescription['KeySchema']) =>
    (keys ?? []).map(({ AttributeName }) => AttributeName).join('+');
  const faults: string[] = [];
  const wantedKey = shape(keySchema(wanted.partitionKey, wanted.sortKey));
  if (shape(found.KeySchema) !== wantedKey)
    faults.push(`${name}: the key is ${shape(found.KeySchema)}, but must be ${wantedKey}`);
  const indexes = new Map(found.GlobalSecondaryIndexes?.map((index) => [index.IndexName, shape(index.KeySchema)]));
  for (const [index, keys] of Object.entries(wanted.indexes ?? {})) {
    if (indexes.get(index) !== keys.join('+'))
      faults.push(`${name}: index ${index} is ${indexes.get(index) ?? 'missing'}; run \`tollgate tables migrate\``);
  }
  return faults;
}

function versionFaults(found: number): string[] {
  if (found > schemaVersion)
    return [
      `the tables have schema version ${found}, but this program supports ${schemaVersion}; install a newer Tollgate`,
    ];
  if (isUnreadable(found)) return [unreadable(found)];
  if (found < schemaVersion)
    return [
      `the tables have schema version ${found}, but this program needs ${schemaVersion}; run \`tollgate tables ` +
        `migrate\``,
    ];
  return [];
}

/** Tables without a version are new, or were created by CloudFormation and have no version item yet. */
const isUnreadable = (found: number): boolean => found > 0 && found < oldestReadable;
const unreadable = (found: number): string =>
  `the tables have schema version ${found}, which this program can neither read nor migrate (it needs ` +
  `${schemaVersion}); ` +
  'create new tables under another TABLE_PREFIX, or delete the old ones. With the embedded engine, delete the data ' +
  'folder or set TOLLGATE_DATA_DIR to another';

/** Returns the schema version of the tables; 0 if they have none. */
async function refuseUnreadable({ client, prefix }: TableAdmin): Promise<number> {
  if (!(await describe(client, `${prefix}limiter`))) return 0;
  const found = await readVersion(client, prefix);
  if (isUnreadable(found)) throw new Error(unreadable(found));
  return found;
}

/** Migrates tables of an older, readable version to this program's version. Returns a report for the terminal. */
export async function migrateTables(admin: TableAdmin): Promise<string> {
  const found = await readVersion(admin.client, admin.prefix);
  if (found > schemaVersion || isUnreadable(found)) throw new Error(versionFaults(found)[0]);
  // Also for tables of this version: a restored table may lack an index.
  await createTables(admin);
  if (found === schemaVersion) {
    // The second run, after every process was upgraded: no older one can start on these tables any more.
    await stampMinVersion(admin);
    return `the tables already have schema version ${found}; every table and index exists; HARD quotas are possible`;
  }
  return (
    `migrated the tables from schema version ${found} to ${schemaVersion}; when every gateway and worker runs this ` +
    'version, run `tollgate tables migrate` once more to make HARD quotas possible. Until then older gateways fail ' +
    'to read devices whose readings this version stored; no reading is lost'
  );
}

async function stampVersion({ client, prefix }: TableAdmin): Promise<void> {
  try {
    await client.send(
      new UpdateItemCommand({
        TableName: `${prefix}limiter`,
        Key: versionItemKey,
        UpdateExpression: 'SET #v = :v, #c = if_not_exists(#c, :c)',
        ConditionExpression: 'attribute_not_exists(#v) OR #v < :v',
        ExpressionAttributeNames: { '#v': 'schema_version', '#c': 'created_at_ms' },
        ExpressionAttributeValues: { ':v': { N: String(schemaVersion) }, ':c': { N: String(systemClock.nowMs()) } },
      }),
    );
  } catch (error) {
    if ((error as Error).name !== 'ConditionalCheckFailedException') throw error;
  }
}

/** Records that no process of an older version uses the tables. */
async function stampMinVersion({ client, prefix }: TableAdmin): Promise<void> {
  await client.send(
    new UpdateItemCommand({
      TableName: `${prefix}limiter`,
      Key: versionItemKey,
      UpdateExpression: 'SET #m = :v',
      ExpressionAttributeNames: { '#m': 'min_version' },
      ExpressionAttributeValues: { ':v': { N: String(schemaVersion) } },
    }),
  );
}

async function readVersion(client: DynamoDBClient, prefix: string): Promise<number> {
  const { Item } = await client.send(
    new GetItemCommand({ TableName: `${prefix}limiter`, Key: versionItemKey, ConsistentRead: true }),
  );
  return Number(Item?.schema_version?.N ?? 0);
}
