// Starts one engine for the whole run, from the compiled code. Each test file has its own tables.
// TOLLGATE_TEST_ENGINE=dynamodb-local runs the same tests on DynamoDB Local.
import { existsSync } from 'node:fs';

export default async function startEngineForTests() {
  const engineModule = new URL('../../dist/embedded/engine.js', import.meta.url);
  if (!existsSync(engineModule)) throw new Error('dist/ is missing; run the tests with `npm test`, which builds it');
  const { startEngine } = await import(engineModule.href);
  globalThis.tollgateEngine = await startEngine({ only: process.env.TOLLGATE_TEST_ENGINE ?? 'dynoxide' });
  process.env.TOLLGATE_TEST_ENDPOINT = globalThis.tollgateEngine.endpoint;
  process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED = 'true';
}
