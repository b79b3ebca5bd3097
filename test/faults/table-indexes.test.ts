// Not part of the pass on DynamoDB Local, which leaves an index that is added later in the state CREATING.
import { randomUUID } from 'node:crypto';
import { DeleteItemCommand, DescribeTableCommand, UpdateTableCommand } from '@aws-sdk/client-dynamodb';
import type { Config } from '../../src/config.js';
import { StoreClient } from '../../src/dynamo/client.js';
import { equals } from '../../src/dynamo/expression.js';
import { checkTables, createTables, migrateTables, type TableAdmin } from '../../src/dynamo/table-admin.js';
import { sdkTransport } from '../../src/dynamo/transport.js';
import { testConfig } from '../support/app.js';
import { deniedBy } from '../support/policy.js';
import { until } from '../support/until.js';
import { adminOf } from './harness.js';

let config: Config;
let admin: TableAdmin;
beforeAll(async () => {
  config = await testConfig();
});
beforeEach(async () => {
  admin = adminOf(config, `t${randomUUID().slice(0, 8)}_`);
  await createTables(admin);
});
afterEach(() => admin.client.destroy());

/** Tables without the index of `cost_requests`. */
async function dropIndex(): Promise<void> {
  const TableName = `${admin.prefix}cost_requests`;
  const GlobalSecondaryIndexUpdates = [{ Delete: { IndexName: 'gsi1' } }];
  await admin.client.send(new UpdateTableCommand({ TableName, GlobalSecondaryIndexUpdates }));
  await until('the deletion of the index', async () => {
    const { Table } = await admin.client.send(new DescribeTableCommand({ TableName }));
    return (Table?.GlobalSecondaryIndexes ?? []).length === 0;
  });
}

describe('tables', () => {
  it('without a version get the index of recorded costs and keep their items', async () => {
    const own = new StoreClient(sdkTransport(config.store), admin.prefix);
    await own.write({ table: 'cost_requests', put: { PK: 'before' } });
    await dropIndex();
    const Key = { PK: { S: '_/SYSTEM#' }, SK: { S: '#VERSION' } };
    await admin.client.send(new DeleteItemCommand({ TableName: `${admin.prefix}limiter`, Key }));
    const missing = expect.stringMatching(/cost_requests: index gsi1 is missing; run `tollgate tables migrate`/);
    expect(await checkTables(admin)).toEqual([missing]);
    await Promise.all([migrateTables(admin), migrateTables(admin)]);
    expect(await checkTables(admin)).toEqual([]);
    expect(await own.get('cost_requests', { PK: 'before' })).toEqual({ PK: 'before' });
    await own.write({ table: 'cost_requests', put: { PK: 'after', gsi1pk: 'p', gsi1sk: 's' } });
    const { items } = await own.query({ table: 'cost_requests', index: 'gsi1', where: equals('gsi1pk', 'p') });
    expect(items).toEqual([{ PK: 'after', gsi1pk: 'p', gsi1sk: 's' }]);
    own.close();
  });

  it('of this version get an index back that they have lost', async () => {
    await dropIndex();
    expect(await migrateTables(admin)).toContain('already');
    expect(await checkTables(admin)).toEqual([]);
  });

  it('may get an index by the permissions of their policy', () => {
    const call = { operation: 'UpdateTable', tables: ['tollgate_cost_requests'], body: {} };
    expect(deniedBy('TablesPolicy', [call])).toEqual([]);
    expect(deniedBy('GatewayPolicy', [call])).not.toEqual([]);
  });
});
