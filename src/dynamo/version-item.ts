/**
 * The key of the item in table `limiter` that has the schema version of the tables (`schema_version`), the oldest
 * version of a process that may use them (`min_version`) and the time when they were created (`created_at_ms`).
 */
export const versionKey = { PK: '_/SYSTEM#', SK: '#VERSION' } as const;

/** The first schema version whose processes know HARD quotas and budgets. */
export const hardQuotasVersion = 5;
