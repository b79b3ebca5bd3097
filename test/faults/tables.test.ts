import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { DeleteItemCommand, DeleteTableCommand, DescribeTableCommand, PutItemCommand } from '@aws-sdk/client-dynamodb';
import type { Config } from '../../src/config.js';
import { StoreClient } from '../../src/dynamo/client.js';
import {
  checkTables,
  createTables,
  migrateTables,
  schemaVersion,
  type TableAdmin,
} from '../../src/dynamo/table-admin.js';
import { tableNames } from '../../src/dynamo/tables.js';
import { sdkTransport } from '../../src/dynamo/transport.js';
import { testConfig } from '../support/app.js';
import type { Call } from '../support/fault-proxy.js';
import { deniedBy } from '../support/policy.js';
import { adminOf, newKey } from './harness.js';

describe('the tables', () => {
  const versionKey = { PK: { S: '_/SYSTEM#' }, SK: { S: '#VERSION' } };
  let config: Config;
  let admin: TableAdmin;
  const writeVersion = (version: number) =>
    admin.client.send(
      new PutItemCommand({
        TableName: `${admin.prefix}limiter`,
        Item: { ...versionKey, schema_version: { N: String(version) } },
      }),
    );

  beforeAll(async () => {
    config = await testConfig();
  });
  beforeEach(async () => {
    admin = adminOf(config, `t${randomUUID().slice(0, 8)}_`);
    expect(await createTables(admin)).toEqual([...tableNames].sort());
  });
  afterEach(() => admin.client.destroy());

  it('are created once and keep their items', async () => {
    const own = new StoreClient(sdkTransport(config.store), admin.prefix);
    const key = newKey();
    await own.write({ table: 'daily_total', put: { ...key, a: 1 } });
    expect(await createTables(admin)).toEqual([]);
    expect(await own.get('daily_total', key)).toEqual({ ...key, a: 1 });
    expect(await checkTables(admin)).toEqual([]);
    own.close();
  });

  it('can be created by two processes at once', async () => {
    const both = adminOf(config, `t${randomUUID().slice(0, 8)}_`);
    await Promise.all([createTables(both), createTables(both)]);
    expect(await checkTables(both)).toEqual([]);
    both.client.destroy();
  });

  it('are reported as missing by name', async () => {
    await admin.client.send(new DeleteTableCommand({ TableName: `${admin.prefix}alerts` }));
    expect(await checkTables(admin)).toEqual([expect.stringContaining(`${admin.prefix}alerts: missing`)]);
    expect(await createTables(admin)).toEqual(['alerts']);
    expect(await checkTables(admin)).toEqual([]);
  });

  it('of a newer version are neither used nor changed', async () => {
    await writeVersion(schemaVersion + 1);
    const fault = [expect.stringMatching(new RegExp(`version ${schemaVersion + 1}.*newer`))];
    expect(await checkTables(admin)).toEqual(fault);
    await expect(migrateTables(admin)).rejects.toThrow(/newer/);
    await createTables(admin);
    expect(await checkTables(admin)).toEqual(fault);
  });

  it.each([1, 5])('of version %i are neither used nor marked as the current version', async (version) => {
    await writeVersion(version);
    const fault = expect.stringMatching(/version [15], which this program can neither read nor migrate.*TABLE_PREFIX/);
    expect(await checkTables(admin)).toEqual([fault]);
    await expect(createTables(admin)).rejects.toThrow(/can neither read nor migrate/);
    await expect(migrateTables(admin)).rejects.toThrow(/can neither read nor migrate/);
    expect(await checkTables(admin)).toEqual([fault]);
    await writeVersion(schemaVersion);
  });

  it('without a version are migrated', async () => {
    await admin.client.send(new DeleteItemCommand({ TableName: `${admin.prefix}limiter`, Key: versionKey }));
    expect(await checkTables(admin)).toEqual([expect.stringContaining('tables migrate')]);
    expect(await migrateTables(admin)).toContain(`from schema version 0 to ${schemaVersion}`);
    expect(await checkTables(admin)).toEqual([]);
    expect(await migrateTables(admin)).toContain('already');
  });

  describe('on Amazon DynamoDB', () => {
    const calls: Pick<Call, 'operation' | 'tables' | 'body'>[] = [];
    const recovery = new Map<string, 'preparing' | 'DISABLED' | 'ENABLED'>();
    let amazon: Server;
    let amazonAdmin: TableAdmin;

    // Local engines have no backups. This proxy in front of one responds to backup calls as Amazon DynamoDB does.
    beforeAll(async () => {
      amazon = createServer(async (incoming, response) => {
        const sent = await text(incoming);
        const body = JSON.parse(sent) as { TableName: string };
        const operation = String(incoming.headers['x-amz-target']).split('.')[1] as string;
        calls.push({ operation, tables: [body.TableName], body });
        const reply = operation.endsWith('ContinuousBackups')
          ? backups(operation, body.TableName)
          : await byEngine(incoming, sent);
        response.writeHead(reply.status).end(reply.text);
      });
      await new Promise<void>((resolve) => amazon.listen(0, '127.0.0.1', resolve));
      const endpoint = `http://127.0.0.1:${(amazon.address() as AddressInfo).port}`;
      amazonAdmin = {
        ...adminOf({ ...config, store: { ...config.store, endpoint } }, `t${randomUUID().slice(0, 8)}_`),
        protect: true,
      };
    });
    afterAll(() => {
      amazonAdmin.client.destroy();
      amazon.closeAllConnections();
      amazon.close();
    });

    const byEngine = async (incoming: IncomingMessage, body: string) => {
      const {
        host: _host,
        connection: _hop,
        'content-length': _length,
        ...headers
      } = incoming.headers as Record<string, string>;
      const reply = await fetch(config.store.endpoint as string, { method: 'POST', headers, body });
      return { status: reply.status, text: await reply.text() };
    };

    function backups(operation: string, table: string): { readonly status: number; readonly text: string } {
      const status = recovery.get(table) ?? 'preparing';
      if (operation === 'DescribeContinuousBackups') {
        const PointInTimeRecoveryDescription = {
          PointInTimeRecoveryStatus: status === 'ENABLED' ? status : 'DISABLED',
        };
        return {
          status: 200,
          text: JSON.stringify({
            ContinuousBackupsDescription: { ContinuousBackupsStatus: 'ENABLED', PointInTimeRecoveryDescription },
          }),
        };
      }
      recovery.set(table, status === 'preparing' ? 'DISABLED' : 'ENABLED');
      return status === 'preparing'
        ? { status: 400, text: '{"__type":"com.amazonaws.dynamodb.v20120810#ContinuousBackupsUnavailableException"}' }
        : { status: 200, text: '{}' };
    }

    it('are protected, even if backups are not available right after the creation', async () => {
      expect(await createTables(amazonAdmin)).toEqual([...tableNames].sort());
      expect([...recovery.values()]).toEqual(tableNames.map(() => 'ENABLED'));
      for (const name of tableNames) {
        const { Table } = await admin.client.send(new DescribeTableCommand({ TableName: amazonAdmin.prefix + name }));
        expect(Table?.DeletionProtectionEnabled).toBe(true);
      }
    });

    it('are protected by the next run if the first one was interrupted', async () => {
      recovery.set(`${amazonAdmin.prefix}limiter`, 'DISABLED');
      expect(await createTables(amazonAdmin)).toEqual([]);
      expect([...recovery.values()]).toEqual(tableNames.map(() => 'ENABLED'));
      const callsBefore = calls.length;
      await createTables(amazonAdmin);
      expect(calls.slice(callsBefore).map(({ operation }) => operation)).not.toContain('UpdateContinuousBackups');
    });

    it('are created, checked and migrated with the permissions of their policy', async () => {
      await migrateTables(amazonAdmin);
      expect(await checkTables(amazonAdmin)).toEqual([]);
      expect(deniedBy('TablesPolicy', calls)).toEqual([]);
      // The gateway and the worker check the tables when they start.
      const checks = calls.filter(({ operation }) => operation === 'DescribeTable' || operation === 'GetItem');
      expect([...deniedBy('GatewayPolicy', checks), ...deniedBy('WorkerPolicy', checks)]).toEqual([]);
    });
  });
});
