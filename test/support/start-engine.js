// Starts one engine for the whole run, from the compiled code. Each test file has its own tables.
// TOLLGATE_TEST_ENGINE=dynamodb-local runs the same tests on DynamoDB Local.
import { readdirSync, statSync } from 'node:fs';

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

export default async function startEngineForTests() {
  refuseOldBuild();
  const { startEngine } = await import(new URL('dist/embedded/engine.js', root).href);
  globalThis.tollgateEngine = await startEngine({ only: process.env.TOLLGATE_TEST_ENGINE ?? 'dynoxide' });
  process.env.TOLLGATE_TEST_ENDPOINT = globalThis.tollgateEngine.endpoint;
  process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED = 'true';
}
