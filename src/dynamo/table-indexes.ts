import {
  DescribeTableCommand,
  type DynamoDBClient,
  type TableDescription,
  UpdateTableCommand,
} from '@aws-sdk/client-dynamodb';
import { sleep } from '../lib/timers.js';
import { keyAttributes, type TableDefinition } from './tables.js';

const pollMs = 200;
/** Amazon DynamoDB fills a new index from the table, which may take hours. */
const fillPollMs = 5000;

export const keySchema = (partitionKey: string, sortKey?: string) => [
  { AttributeName: partitionKey, KeyType: 'HASH' as const },
  ...(sortKey ? [{ AttributeName: sortKey, KeyType: 'RANGE' as const }] : []),
];

export const attributeDefinitions = (definition: TableDefinition) =>
  keyAttributes(definition).map((AttributeName) => ({ AttributeName, AttributeType: 'S' as const }));

export const indexSchemas = ({ indexes = {} }: TableDefinition) =>
  Object.entries(indexes).map(([IndexName, [partitionKey, sortKey]]) => ({
    IndexName,
    KeySchema: keySchema(partitionKey, sortKey),
    Projection: { ProjectionType: 'KEYS_ONLY' as const },
  }));

/**
 * Adds the indexes that an existing table does not have, one after the other, because DynamoDB accepts one at a time.
 * Resolves when the table and all its indexes are active. Idempotent, and safe if two processes do it at once.
 */
export async function addMissingIndexes(
  client: DynamoDBClient,
  TableName: string,
  definition: TableDefinition,
): Promise<void> {
  for (;;) {
    const table = await describe(client, TableName);
    const found = table?.GlobalSecondaryIndexes ?? [];
    const isFilling = found.some(({ IndexStatus = 'ACTIVE' }) => IndexStatus !== 'ACTIVE');
    if (table?.TableStatus === 'ACTIVE' && !isFilling) {
      const names = new Set(found.map(({ IndexName }) => IndexName));
      const missing = indexSchemas(definition).find(({ IndexName }) => !names.has(IndexName));
      if (!missing) return;
      await createIndex(client, TableName, definition, missing);
    }
    await sleep(isFilling ? fillPollMs : pollMs);
  }
}

async function createIndex(
  client: DynamoDBClient,
  TableName: string,
  definition: TableDefinition,
  Create: ReturnType<typeof indexSchemas>[number],
): Promise<void> {
  try {
    await client.send(
      new UpdateTableCommand({
        TableName,
        AttributeDefinitions: attributeDefinitions(definition),
        GlobalSecondaryIndexUpdates: [{ Create }],
      }),
    );
  } catch (error) {
    const { name, message } = error as Error;
    // Another process creates it, or too many tables are being changed. Both end by themselves.
    const isTemporary = name === 'ResourceInUseException' || name === 'LimitExceededException';
    if (!isTemporary && !/already exists/i.test(message)) throw error;
  }
}

/** Undefined if the table does not exist. */
export async function describe(client: DynamoDBClient, TableName: string): Promise<TableDescription | undefined> {
  try {
    return (await client.send(new DescribeTableCommand({ TableName }))).Table;
  } catch (error) {
    if ((error as Error).name === 'ResourceNotFoundException') return undefined;
    throw error;
  }
}
