import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { DeleteItemCommand, DeleteTableCommand, DescribeTableCommand, PutItemCommand } from '@aws-sdk/client-dynamodb';
import type { Config } from '../../src/config.js';
import { StoreClient } from '../../src/dynamo/client.js';
import { checkTables, createTables, migrateTables, schemaVersion, type TableAdmin } from '../../src/dynamo/table-admin.js';
import { tableNames } from '../../src/dynamo/tables.js';
import { sdkTransport } from '../../src/dynamo/transport.js';
import { testConfig } from '../support/app.js';
import { adminOf, newKey } from './harness.js';

describe('tables', () => {
  const versionKey = { PK: { S: '_/SYSTEM#' }, SK: { S: '#VERSION' } };
  let config: Config;
  let admin: TableAdmin;
  const writeVersion = (version: number) =>
    admin.client.send(new PutItemCommand({ TableName: `${admin.prefix}limiter`, Item: { ...versionKey, schema_version: { N: String(version) } } }));

  beforeAll(async () => {
    config = await testConfig();
  });
  beforeEach(async () => {
    admin = adminOf(config, `t${randomUUID().slice(0, 8)}_`);
    expect(await createTables(admin)).toEqual([...tableNames].sort());
  });
  afterEach(() => admin.client.destroy());

  it('are created once, and what they hold stays', async () => {
    const own = new StoreClient(sdkTransport(config.store), admin.prefix);
    const key = newKey();
    await own.write({ table: 'daily_total', put: { ...key, a: 1 } });
    expect(await createTables(admin)).toEqual([]);
    expect(await own.get('daily_total', key)).toEqual({ ...key, a: 1 });
    expect(await checkTables(admin)).toEqual([]);
    own.close();
  });

  it('may be created by two processes at once', async () => {
    const both = adminOf(config, `t${randomUUID().slice(0, 8)}_`);
    await Promise.all([createTables(both), createTables(both)]);
    expect(await checkTables(both)).toEqual([]);
    both.client.destroy();
  });

  it('are called missing by name', async () => {
    await admin.client.send(new DeleteTableCommand({ TableName: `${admin.prefix}alerts` }));
    expect(await checkTables(admin)).toEqual([expect.stringContaining(`${admin.prefix}alerts: missing`)]);
    expect(await createTables(admin)).toEqual(['alerts']);
    expect(await checkTables(admin)).toEqual([]);
  });

  it('of a newer program are neither used, changed nor taken back', async () => {
    await writeVersion(schemaVersion + 1);
    const fault = [expect.stringMatching(new RegExp(`version ${schemaVersion + 1}.*newer`))];
    expect(await checkTables(admin)).toEqual(fault);
    await expect(migrateTables(admin)).rejects.toThrow(/newer/);
    await createTables(admin);
    expect(await checkTables(admin)).toEqual(fault);
  });

  it('of an older program are brought up to date by a migration', async () => {
    await admin.client.send(new DeleteItemCommand({ TableName: `${admin.prefix}limiter`, Key: versionKey }));
    expect(await checkTables(admin)).toEqual([expect.stringContaining('tables migrate')]);
    expect(await migrateTables(admin)).toContain(`from schema version 0 to ${schemaVersion}`);
    expect(await checkTables(admin)).toEqual([]);
    expect(await migrateTables(admin)).toContain('already');
  });

  it('of Amazon are protected, though it prepares their backups for a while after it made them', async () => {
    const asked = new Map<string, number>();
    // No local engine has backups: this stands before one and answers for them as Amazon does.
    const amazon = createServer(async (incoming, response) => {
      const body = await text(incoming);
      const { TableName } = JSON.parse(body) as { TableName: string };
      if (!String(incoming.headers['x-amz-target']).endsWith('.UpdateContinuousBackups')) {
        const { host: _ours, connection: _hop, 'content-length': _length, ...headers } = incoming.headers as Record<string, string>;
        const answer = await fetch(config.store.endpoint as string, { method: 'POST', headers, body });
        response.writeHead(answer.status, { 'content-type': 'application/x-amz-json-1.0' }).end(await answer.text());
        return;
      }
      asked.set(TableName, (asked.get(TableName) ?? 0) + 1);
      const isReady = asked.get(TableName) !== 1;
      response.writeHead(isReady ? 200 : 400).end(isReady ? '{}' : '{"__type":"com.amazonaws.dynamodb.v20120810#ContinuousBackupsUnavailableException"}');
    });
    await new Promise<void>((resolve) => amazon.listen(0, '127.0.0.1', resolve));
    const endpoint = `http://127.0.0.1:${(amazon.address() as AddressInfo).port}`;
    const there = { ...adminOf({ ...config, store: { ...config.store, endpoint } }, `t${randomUUID().slice(0, 8)}_`), protect: true };
    expect(await createTables(there)).toEqual([...tableNames].sort());
    expect(asked).toEqual(new Map(tableNames.map((name) => [there.prefix + name, 2])));
    for (const name of tableNames) {
      const { Table } = await admin.client.send(new DescribeTableCommand({ TableName: there.prefix + name }));
      expect(Table?.DeletionProtectionEnabled).toBe(true);
    }
    there.client.destroy();
    amazon.closeAllConnections();
    amazon.close();
  });
});
