import {
  CreateTableCommand,
  type CreateTableCommandInput,
  DescribeContinuousBackupsCommand,
  DescribeTableCommand,
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
import { definitionOf, keyAttributes, type TableDefinition, type TableName, tableNames } from './tables.js';

/**
 * Raised with each change to the tables or their items that running code must know of. Version 3 changed the items of
 * buckets, and the keys of leases and of usage.
 */
export const schemaVersion = 3;
/** Items of stores before this version cannot be read any more. */
const oldestReadable = 3;

const [backupsReadyMs, mostAttempts] = [1000, 120];

const versionKey = { PK: { S: '_/SYSTEM#' }, SK: { S: '#VERSION' } };

export interface TableAdmin {
  readonly client: DynamoDBClient;
  readonly prefix: string;
  /** On Amazon DynamoDB also point-in-time recovery and deletion protection, which local engines do not have. */
  readonly protect: boolean;
}

export const keySchema = (partitionKey: string, sortKey?: string) => [
  { AttributeName: partitionKey, KeyType: 'HASH' as const },
  ...(sortKey ? [{ AttributeName: sortKey, KeyType: 'RANGE' as const }] : []),
];

export function tableSchema(definition: TableDefinition) {
  const indexes = Object.entries(definition.indexes ?? {}).map(([IndexName, [partitionKey, sortKey]]) => ({
    IndexName,
    KeySchema: keySchema(partitionKey, sortKey),
    Projection: { ProjectionType: 'KEYS_ONLY' as const },
  }));
  return {
    AttributeDefinitions: keyAttributes(definition).map((AttributeName) => ({
      AttributeName,
      AttributeType: 'S' as const,
    })),
    KeySchema: keySchema(definition.partitionKey, definition.sortKey),
    ...(indexes.length > 0 ? { GlobalSecondaryIndexes: indexes } : {}),
    BillingMode: 'PAY_PER_REQUEST' as const,
  } satisfies Partial<CreateTableCommandInput>;
}

/** Creates what is missing and leaves what is there. Returns the tables it made. */
export async function createTables(admin: TableAdmin): Promise<TableName[]> {
  await refuseUnreadable(admin);
  const made: TableName[] = [];
  await Promise.all(
    tableNames.map(async (name) => {
      if (await createTable(admin, name)) made.push(name);
    }),
  );
  await stampVersion(admin);
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
      // Another process was first: what counts is that it is there.
      if ((error as Error).name !== 'ResourceInUseException') throw error;
    }
  }
  while ((await describe(client, TableName))?.TableStatus !== 'ACTIVE') await sleep(200);
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
      // For a while after a table was made, Amazon still prepares its backups.
      if (name !== 'ContinuousBackupsUnavailableException' || attempt === mostAttempts)
        throw new Error(
          `${TableName}: its point-in-time recovery could not be turned on (${name}: ${message}): run \`tollgate tables create\` again`,
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

/** What keeps these tables from being used, each fault a sentence; none: they are fit. */
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
    faults.push(`${name}: its key is ${shape(found.KeySchema)}, not ${wantedKey}`);
  const indexes = new Map(found.GlobalSecondaryIndexes?.map((index) => [index.IndexName, shape(index.KeySchema)]));
  for (const [index, keys] of Object.entries(wanted.indexes ?? {})) {
    if (indexes.get(index) !== keys.join('+'))
      faults.push(`${name}: index ${index} is ${indexes.get(index) ?? 'missing'}; run \`tollgate tables migrate\``);
  }
  return faults;
}

function versionFaults(found: number): string[] {
  if (found > schemaVersion)
    return [`the store has schema version ${found}, this program knows ${schemaVersion}: install a newer Tollgate`];
  if (isUnreadable(found)) return [unreadable(found)];
  if (found < schemaVersion)
    return [
      `the store has schema version ${found}, this program needs ${schemaVersion}: run \`tollgate tables migrate\``,
    ];
  return [];
}

/** A store without a version is new, or was made by CloudFormation and not stamped yet. */
const isUnreadable = (found: number): boolean => found > 0 && found < oldestReadable;
const unreadable = (found: number): string =>
  `the store has schema version ${found}, which this program cannot read or convert (it needs ${schemaVersion}): ` +
  'create a new store under another TABLE_PREFIX, or delete the old tables; with the embedded engine, delete the data folder or name another with TOLLGATE_DATA_DIR';

async function refuseUnreadable({ client, prefix }: TableAdmin): Promise<void> {
  if (!(await describe(client, `${prefix}limiter`))) return;
  const found = await readVersion(client, prefix);
  if (isUnreadable(found)) throw new Error(unreadable(found));
}

/** Brings a readable older store up to this program's version; says what it did. */
export async function migrateTables(admin: TableAdmin): Promise<string> {
  const found = await readVersion(admin.client, admin.prefix);
  if (found > schemaVersion || isUnreadable(found)) throw new Error(versionFaults(found)[0]);
  if (found === schemaVersion) return `the store has schema version ${found} already`;
  await createTables(admin);
  return `brought the store from schema version ${found} to ${schemaVersion}`;
}

async function stampVersion({ client, prefix }: TableAdmin): Promise<void> {
  try {
    await client.send(
      new UpdateItemCommand({
        TableName: `${prefix}limiter`,
        Key: versionKey,
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

async function readVersion(client: DynamoDBClient, prefix: string): Promise<number> {
  const { Item } = await client.send(
    new GetItemCommand({ TableName: `${prefix}limiter`, Key: versionKey, ConsistentRead: true }),
  );
  return Number(Item?.schema_version?.N ?? 0);
}

async function describe(client: DynamoDBClient, TableName: string): Promise<TableDescription | undefined> {
  try {
    return (await client.send(new DescribeTableCommand({ TableName }))).Table;
  } catch (error) {
    if ((error as Error).name === 'ResourceNotFoundException') return undefined;
    throw error;
  }
}
