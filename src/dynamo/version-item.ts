/**
 * The key of the item in table `limiter` that has the schema version of the tables (`schema_version`) and the time when
 * they were created (`created_at_ms`).
 */
export const versionKey = { PK: '_/SYSTEM#', SK: '#VERSION' } as const;
