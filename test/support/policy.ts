import { cloudFormationTemplate } from '../../src/dynamo/template.js';
import { type Call, plainTable } from './fault-proxy.js';

interface Policy {
  readonly Properties: {
    readonly PolicyDocument: {
      readonly Statement: readonly { readonly Action: readonly string[]; readonly Resource: readonly ArnOf[] }[];
    };
  };
}
type ArnOf = { readonly 'Fn::GetAtt': readonly [string, 'Arn'] } | { readonly 'Fn::Sub': string };
interface Table {
  readonly Properties: { readonly TableName: { readonly 'Fn::Sub': string } };
}

const { Resources } = cloudFormationTemplate('') as { Resources: Record<string, unknown> };

/** The actions of these calls that the policy of the CloudFormation template does not allow, each once. */
export function deniedBy(
  policy: 'GatewayPolicy' | 'WorkerPolicy' | 'TablesPolicy',
  calls: readonly Pick<Call, 'operation' | 'tables' | 'body'>[],
): string[] {
  const allowed = new Set(
    (Resources[policy] as Policy).Properties.PolicyDocument.Statement.flatMap(({ Action, Resource }) =>
      Action.flatMap((action) => Resource.map((arn) => `${action} ${resourceOf(arn)}`)),
    ),
  );
  return [...new Set(calls.flatMap(actionsOf))].filter((action) => !allowed.has(action)).sort();
}

function resourceOf(arn: ArnOf): string {
  if ('Fn::GetAtt' in arn) return tableOf(arn['Fn::GetAtt'][0]);
  const [, id = '', index = ''] = /^\$\{(\w+)\.Arn\}(\/index)\/\*$/.exec(arn['Fn::Sub']) ?? [];
  return tableOf(id) + index;
}

const tableOf = (logicalId: string): string =>
  (Resources[logicalId] as Table).Properties.TableName['Fn::Sub'].replace(/^\$\{TablePrefix\}/, '');

/** The actions of a call for IAM: one per write of a transaction or batch, and an index is a separate resource. */
function actionsOf({ operation, tables, body }: Pick<Call, 'operation' | 'tables' | 'body'>): string[] {
  if (operation === 'TransactWriteItems') {
    const parts = (body.TransactItems as Record<string, { TableName: string }>[]).flatMap((part) =>
      Object.entries(part),
    );
    return parts.map(
      ([kind, { TableName }]) =>
        `dynamodb:${kind === 'ConditionCheck' ? 'ConditionCheckItem' : `${kind}Item`} ${plainTable(TableName)}`,
    );
  }
  if (operation === 'BatchExecuteStatement')
    return (body.Statements as { Statement: string }[]).map(({ Statement }) => {
      const [verb, table = ''] = Statement.split('"');
      return `dynamodb:PartiQL${verb?.startsWith('INSERT') ? 'Insert' : 'Update'} ${plainTable(table)}`;
    });
  return tables.map((table) => `dynamodb:${operation} ${plainTable(table)}${body.IndexName ? '/index' : ''}`);
}
