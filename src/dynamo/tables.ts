/** One table. Creation, checks, tests and the CloudFormation template all use this definition. */
export interface TableDefinition {
  readonly partitionKey: string;
  readonly sortKey?: string;
  /** Sparse and KEYS_ONLY: a write that changes no index key pays nothing for the index. */
  readonly indexes?: Readonly<Record<string, readonly [partitionKey: string, sortKey: string]>>;
  readonly ttl?: string;
  readonly writtenBy: 'gateway' | 'both';
}

const gsi1 = { gsi1: ['gsi1pk', 'gsi1sk'] } as const;
const pkSk = { partitionKey: 'PK', sortKey: 'SK' } as const;

export const tables = {
  config: { ...pkSk, indexes: gsi1, writtenBy: 'gateway' },
  sticky_state: { ...pkSk, ttl: 'expires_at_epoch', writtenBy: 'both' },
  usage_agg_sharded: { ...pkSk, indexes: gsi1, ttl: 'expires_at_epoch', writtenBy: 'both' },
  daily_total: { ...pkSk, ttl: 'expires_at_epoch', writtenBy: 'both' },
  pricing_cache: { ...pkSk, ttl: 'expires_at_epoch', writtenBy: 'both' },
  revoked_tokens: { partitionKey: 'PK', ttl: 'expires_at_epoch', writtenBy: 'gateway' },
  refresh_tokens: { partitionKey: 'PK', ttl: 'expires_at_epoch', writtenBy: 'gateway' },
  secret_retrieval_tokens: { partitionKey: 'PK', ttl: 'expires_at_epoch', writtenBy: 'gateway' },
  cost_requests: { partitionKey: 'PK', indexes: gsi1, ttl: 'expires_at_epoch', writtenBy: 'gateway' },
  alerts: { ...pkSk, indexes: { ...gsi1, gsi2: ['gsi2pk', 'gsi2sk'] }, ttl: 'expires_at_epoch', writtenBy: 'both' },
  limiter: {
    ...pkSk,
    indexes: {
      GSI1: ['GSI1PK', 'GSI1SK'],
      GSI2: ['GSI2PK', 'GSI2SK'],
      GSI3: ['GSI3PK', 'GSI3SK'],
      GSI4: ['GSI4PK', 'GSI4SK'],
    },
    ttl: 'ttl',
    writtenBy: 'both',
  },
  devices: { partitionKey: 'hardware_id', indexes: { ...gsi1, gsi2: ['gsi2pk', 'gsi2sk'] }, writtenBy: 'both' },
  device_readings: { partitionKey: 'hardware_id', sortKey: 'ts_batch', ttl: 'expiration_time', writtenBy: 'both' },
  processed_batches: { partitionKey: 'batch_id', ttl: 'expiration_time', writtenBy: 'both' },
  api_keys: { partitionKey: 'key_id', indexes: gsi1, writtenBy: 'gateway' },
} as const satisfies Record<string, TableDefinition>;

export type TableName = keyof typeof tables;
export const tableNames = Object.keys(tables) as TableName[];
export const definitionOf = (table: TableName): TableDefinition => tables[table];

/** The key and index attributes. All of them are strings. */
export function keyAttributes(definition: TableDefinition): string[] {
  return [
    ...new Set([
      definition.partitionKey,
      ...(definition.sortKey ? [definition.sortKey] : []),
      ...Object.values(definition.indexes ?? {}).flat(),
    ]),
  ];
}
