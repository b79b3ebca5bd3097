import { tableSchema } from './table-admin.js';
import { definitionOf, type TableName, tableNames } from './tables.js';

const logicalId = (table: TableName): string =>
  `${table
    .split('_')
    .map((word) => word[0]?.toUpperCase() + word.slice(1))
    .join('')}Table`;

const reads = ['GetItem', 'BatchGetItem', 'Query', 'ConditionCheckItem', 'DescribeTable'];
const writes = ['PutItem', 'UpdateItem', 'DeleteItem', 'BatchWriteItem', 'PartiQLInsert', 'PartiQLUpdate'];
const setUp = [
  'CreateTable',
  'UpdateTable',
  'DescribeTable',
  'DescribeTimeToLive',
  'UpdateTimeToLive',
  'DescribeContinuousBackups',
  'UpdateContinuousBackups',
];

/**
 * A CloudFormation template of the tables and of least-privilege policies for gateway, worker and `tollgate tables`.
 */
export function cloudFormationTemplate(prefix: string): object {
  const resources: Record<string, unknown> = {};
  for (const table of tableNames) {
    const { ttl } = definitionOf(table);
    resources[logicalId(table)] = {
      Type: 'AWS::DynamoDB::Table',
      DeletionPolicy: 'Retain',
      UpdateReplacePolicy: 'Retain',
      Properties: {
        TableName: { 'Fn::Sub': `\${TablePrefix}${table}` },
        ...tableSchema(definitionOf(table)),
        ...(ttl ? { TimeToLiveSpecification: { AttributeName: ttl, Enabled: true } } : {}),
        PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
        DeletionProtectionEnabled: true,
      },
    };
  }
  resources.GatewayPolicy = policy('What a Tollgate gateway may do', [
    [reads, tableNames],
    [writes, tableNames],
  ]);
  resources.WorkerPolicy = policy('What a Tollgate worker may do', [
    [reads, tableNames],
    [writes, tableNames.filter((table) => definitionOf(table).writtenBy === 'both')],
  ]);
  resources.TablesPolicy = policy('What `tollgate tables` may do', [
    [setUp, tableNames],
    [['GetItem', 'UpdateItem'], ['limiter']],
  ]);
  return {
    AWSTemplateFormatVersion: '2010-09-09',
    Description: 'Tables and policies of Tollgate',
    Parameters: { TablePrefix: { Type: 'String', Default: prefix, AllowedPattern: '[a-zA-Z0-9_.-]{0,64}' } },
    Resources: resources,
    Outputs: Object.fromEntries(
      ['GatewayPolicy', 'WorkerPolicy', 'TablesPolicy'].map((name) => [name, { Value: { Ref: name } }]),
    ),
  };
}

/** Allows exactly these actions on these tables and their indexes. */
function policy(
  description: string,
  allowed: readonly (readonly [actions: readonly string[], tables: readonly TableName[]])[],
): object {
  const arns = (names: readonly TableName[]) =>
    names.flatMap((table) => [
      { 'Fn::GetAtt': [logicalId(table), 'Arn'] },
      ...(definitionOf(table).indexes ? [{ 'Fn::Sub': `\${${logicalId(table)}.Arn}/index/*` }] : []),
    ]);
  return {
    Type: 'AWS::IAM::ManagedPolicy',
    Properties: {
      Description: description,
      PolicyDocument: {
        Version: '2012-10-17',
        Statement: allowed.map(([actions, tables]) => ({
          Effect: 'Allow',
          Action: actions.map((action) => `dynamodb:${action}`),
          Resource: arns(tables),
        })),
      },
    },
  };
}
