import { definitionOf, keyAttributes, tableNames } from '../../../src/dynamo/tables.js';
import { cloudFormationTemplate } from '../../../src/dynamo/template.js';

describe('cloudFormationTemplate', () => {
  interface Resource {
    readonly Type: string;
    readonly DeletionPolicy?: string;
    readonly Properties: Record<string, never>;
  }
  interface Statement {
    readonly Effect: string;
    readonly Action: string[];
    readonly Resource: Record<string, unknown>[];
  }
  interface TableProperties {
    readonly TableName: { 'Fn::Sub': string };
    readonly AttributeDefinitions: { AttributeName: string }[];
    readonly KeySchema: { AttributeName: string }[];
    readonly GlobalSecondaryIndexes?: {
      KeySchema: { AttributeName: string }[];
      Projection: { ProjectionType: string };
    }[];
    readonly TimeToLiveSpecification?: { AttributeName: string; Enabled: boolean };
    readonly PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: boolean };
    readonly DeletionProtectionEnabled: boolean;
    readonly BillingMode: string;
  }
  const template = cloudFormationTemplate('prefix_') as {
    Resources: Record<string, Resource>;
    Parameters: { TablePrefix: { Default: string } };
  };
  const ofType = (type: string) => Object.entries(template.Resources).filter(([, resource]) => resource.Type === type);
  const tables = ofType('AWS::DynamoDB::Table').map(([id, { Properties }]) => ({
    id,
    ...(Properties as unknown as TableProperties),
  }));
  const statements = (policy: string): Statement[] =>
    (template.Resources[policy]!.Properties as unknown as { PolicyDocument: { Statement: Statement[] } }).PolicyDocument
      .Statement;
  const writableTables = (policy: string): string[] =>
    statements(policy)
      .filter(({ Action }) => Action.some((action) => /:(Put|Update|Delete|BatchWrite)Item$/.test(action)))
      .flatMap(({ Resource }) =>
        Resource.flatMap((resource) =>
          'Fn::GetAtt' in resource ? [(resource['Fn::GetAtt'] as string[])[0] as string] : [],
        ),
      );

  const ttlAttributes = {
    config: undefined,
    sticky_state: 'expires_at_epoch',
    usage_agg_sharded: 'expires_at_epoch',
    daily_total: 'expires_at_epoch',
    pricing_cache: 'expires_at_epoch',
    revoked_tokens: 'expires_at_epoch',
    refresh_tokens: 'expires_at_epoch',
    secret_retrieval_tokens: 'expires_at_epoch',
    cost_requests: 'expires_at_epoch',
    alerts: 'expires_at_epoch',
    limiter: 'ttl',
    devices: undefined,
    device_readings: 'expiration_time',
    processed_batches: 'expiration_time',
    api_keys: undefined,
  };

  it('defines every table under the prefix, with its TTL attribute', () => {
    const found = Object.fromEntries(
      tables.map(({ TableName, TimeToLiveSpecification }) => [TableName['Fn::Sub'], TimeToLiveSpecification]),
    );
    const expected = Object.entries(ttlAttributes).map(([name, ttl]) => [
      `\${TablePrefix}${name}`,
      ttl && { AttributeName: ttl, Enabled: true },
    ]);
    expect(found).toEqual(Object.fromEntries(expected));
    expect(template.Parameters.TablePrefix.Default).toBe('prefix_');
    expect([...tableNames].sort()).toEqual(Object.keys(ttlAttributes).sort());
  });

  it('gives every table point-in-time recovery, deletion protection, a retain policy and on-demand billing', () => {
    for (const table of tables) {
      expect(table).toMatchObject({
        PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
        DeletionProtectionEnabled: true,
        BillingMode: 'PAY_PER_REQUEST',
      });
      expect(template.Resources[table.id]).toMatchObject({ DeletionPolicy: 'Retain', UpdateReplacePolicy: 'Retain' });
    }
  });

  it('defines exactly the attributes that keys and indexes use, and projects keys only', () => {
    for (const { AttributeDefinitions, KeySchema, GlobalSecondaryIndexes = [] } of tables) {
      const used = [...KeySchema, ...GlobalSecondaryIndexes.flatMap((index) => index.KeySchema)].map(
        ({ AttributeName }) => AttributeName,
      );
      expect(AttributeDefinitions.map(({ AttributeName }) => AttributeName).sort()).toEqual([...new Set(used)].sort());
      for (const { Projection } of GlobalSecondaryIndexes) expect(Projection.ProjectionType).toBe('KEYS_ONLY');
    }
    for (const table of tableNames)
      expect(new Set(keyAttributes(definitionOf(table))).size).toBe(keyAttributes(definitionOf(table)).length);
  });

  it('lets the worker write fewer tables than the gateway, and no table with credentials', () => {
    const gateway = writableTables('GatewayPolicy');
    const worker = writableTables('WorkerPolicy');
    expect(gateway.sort()).toEqual(tables.map(({ id }) => id).sort());
    expect(worker.length).toBeLessThan(gateway.length);
    expect(gateway).toEqual(expect.arrayContaining(worker));
    for (const table of [
      'ConfigTable',
      'RevokedTokensTable',
      'RefreshTokensTable',
      'SecretRetrievalTokensTable',
      'ApiKeysTable',
      'CostRequestsTable',
    ]) {
      expect(worker).not.toContain(table);
    }
  });

  it('names every resource and action, with a wildcard only for the indexes of a named table', () => {
    for (const [name] of ofType('AWS::IAM::ManagedPolicy')) {
      for (const { Effect, Action, Resource } of statements(name)) {
        expect(Effect).toBe('Allow');
        for (const action of Action) expect(action).toMatch(/^dynamodb:[A-Za-z]+$/);
        for (const resource of Resource) {
          const id =
            'Fn::GetAtt' in resource
              ? (resource['Fn::GetAtt'] as string[])[0]
              : /^\$\{(\w+)\.Arn\}\/index\/\*$/.exec(String(resource['Fn::Sub']))?.[1];
          expect(tables.map((table) => table.id)).toContain(id);
        }
      }
    }
    expect(ofType('AWS::IAM::ManagedPolicy').map(([name]) => name)).toEqual([
      'GatewayPolicy',
      'WorkerPolicy',
      'TablesPolicy',
    ]);
  });

  it('grants the gateway and the worker no scan and no change of a table', () => {
    const actions = ['GatewayPolicy', 'WorkerPolicy'].flatMap(statements).flatMap(({ Action }) => Action);
    expect(actions.filter((action) => /Scan|CreateTable|UpdateTable|DeleteTable|TimeToLive/.test(action))).toEqual([]);
  });
});
