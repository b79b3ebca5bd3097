// Starts one engine for the whole run, from the compiled code. Each test file has its own tables.
// TOLLGATE_TEST_ENGINE=dynamodb-local runs the same tests on DynamoDB Local.
import { readdirSync, statSync } from 'node:fs';
import { DynamoDB } from '@aws-sdk/client-dynamodb';

const root = new URL('../../', import.meta.url);
const writtenMs = (path) => statSync(new URL(path, root), { throwIfNoEntry: false })?.mtimeMs ?? 0;

/** The tests run the compiled code, which must not be older than the source. */
function refuseOldBuild() {
  for (const folder of ['', 'client/']) {
    const paths = readdirSync(new URL(`${folder}src/`, root), { recursive: true }).filter((path) =>
      path.endsWith('.ts'),
    );
    const isOld = (path) => writtenMs(`${folder}dist/${path.slice(0, -3)}.js`) < writtenMs(`${folder}src/${path}`);
    const old = paths.find(isOld);
    if (old)
      throw new Error(`${folder}dist/ is older than src/${old}; run \`npm run build\` first, as \`npm test\` does`);
  }
}

/**
 * DynamoDB Local loads the classes that execute statements at the first one, which takes more than the request timeout
 * of a gateway. Amazon DynamoDB and the embedded engine have no such delay.
 */
async function warmUpStatements(endpoint) {
  const credentials = { accessKeyId: 'local', secretAccessKey: 'local' };
  const client = new DynamoDB({ endpoint, region: 'us-east-1', credentials });
  const TableName = 'warm_up';
  await client.createTable({
    TableName,
    AttributeDefinitions: [{ AttributeName: 'PK', AttributeType: 'S' }],
    KeySchema: [{ AttributeName: 'PK', KeyType: 'HASH' }],
    BillingMode: 'PAY_PER_REQUEST',
  });
  const Parameters = [{ S: 'x' }];
  for (let i = 0; i < 3; i++)
    await client.batchExecuteStatement({
      Statements: [
        { Statement: `INSERT INTO "${TableName}" VALUE {'PK': ?, 'n': 1}`, Parameters },
        {
          Statement: `UPDATE "${TableName}" SET "n" = n + 1 WHERE "PK" = ? AND ("n" >= 0) RETURNING ALL NEW *`,
          Parameters,
        },
      ].slice(i === 0 ? 0 : 1, i === 0 ? 1 : 2),
    });
  await client.deleteTable({ TableName });
  client.destroy();
}

export default async function startEngineForTests() {
  refuseOldBuild();
  const { startEngine } = await import(new URL('dist/embedded/engine.js', root).href);
  globalThis.tollgateEngine = await startEngine({ only: process.env.TOLLGATE_TEST_ENGINE ?? 'dynoxide' });
  if (process.env.TOLLGATE_TEST_ENGINE === 'dynamodb-local') await warmUpStatements(globalThis.tollgateEngine.endpoint);
  process.env.TOLLGATE_TEST_ENDPOINT = globalThis.tollgateEngine.endpoint;
  process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED = 'true';
}
