// The cost of GraphQL: Tollgate, with credentials and all limits, against servers without them.
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse, stringify } from 'yaml';
import { Client } from './load.mjs';
import { compare, measure } from './measure.mjs';
import { freePort, ready, startProcess } from './stage.mjs';
import { newOrg } from './tenant.mjs';

const listLength = 100;
export const operations = {
  'me { kind }': '{ me { kind } }',
  [`list of ${listLength} × 10 fields`]:
    '{ models { label bedrockModelId tier family description ' +
    'price { inputUsdMicrosPer1M outputUsdMicrosPer1M source fetchedAt } } }',
};
const [me, list] = Object.keys(operations);
const bare = { apollo: 'plain Apollo', yoga: 'GraphQL Yoga', mercurius: 'Mercurius with jit' };

/** Configures 100 models, so that there is a list that needs no database. */
export function graphqlEnvironment() {
  const file = join(tmpdir(), `tollgate-bench-${process.pid}.yaml`);
  const config = parse(readFileSync(new URL('../config.yaml', import.meta.url), 'utf8'));
  for (let i = Object.keys(config.models).length; i < listLength; i++)
    config.models[`model-${i}`] = { ...config.models.standard, description: `Model ${i}` };
  writeFileSync(file, stringify(config));
  process.once('exit', () => rmSync(file, { force: true }));
  return { TOLLGATE_CONFIG: file };
}

/** Returns the rows and the failed requests. */
export async function graphql(stage, { seconds }) {
  const { headers } = await newOrg(stage);
  const servers = [];
  try {
    for (const [kind, by] of Object.entries(bare)) {
      const port = await freePort();
      const url = `http://127.0.0.1:${port}/graphql`;
      const server = startProcess([fileURLToPath(new URL('bare-server.mjs', import.meta.url)), kind, String(port)], {
        NODE_ENV: 'production',
      });
      servers.push({ by, server, client: new Client(url) });
      await ready(server, url, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: '{"query":"{ me { kind } }"}',
      });
    }
    const rows = [];
    const failures = [];
    for (const [operation, query] of Object.entries(operations)) {
      const body = JSON.stringify({ query });
      const sendWith = (client, credentials) => async () => {
        const { status, text } = await client.post(credentials, body);
        if (status !== 200 || !text.startsWith('{"data":'))
          throw new Error(`the request failed: ${text.slice(0, 200)}`);
      };
      const phases = [
        { operation, by: 'Tollgate', send: sendWith(stage.client, headers), warmUpSeconds: 2 },
        ...servers.map(({ by, server, client }) => ({
          operation,
          by,
          pid: server.child.pid,
          send: sendWith(client, {}),
          warmUpSeconds: 2,
        })),
      ];
      const measured = await measure(stage, phases, { seconds, countAt: [] });
      rows.push(...measured.rows);
      failures.push(...measured.failures);
    }
    const comparisons = [
      ...[bare.apollo, bare.yoga].flatMap((by) =>
        Object.keys(operations).map((operation) => ({ operation, to: { by } })),
      ),
      // Mercurius checks no credentials and has no bounds, so `me` may cost a little more than there.
      { operation: me, to: { by: bare.mercurius }, figure: 'moreCpu', bar: 40 },
      { operation: list, to: { by: bare.mercurius }, bar: 0.75 },
    ];
    return { rows: compare(rows, comparisons), failures, wrong: [] };
  } finally {
    for (const { client, server } of servers) {
      client.close();
      await server.stop();
    }
  }
}
