// The same load on a gateway with one process, with two processes, and with its request log.
import { randomUUID } from 'node:crypto';
import { graphqlEnvironment, operations } from './graphql.mjs';
import { compare, measure } from './measure.mjs';
import { openStage } from './stage.mjs';
import { newOrg } from './tenant.mjs';

const inFlight = 64;
const submitCost = 'mutation ($input: SubmitCostInput!) { submitCost(input: $input) { requestId } }';
const others = {
  'Tollgate, 2 processes': { args: ['--processes', '2'], title: 'one process' },
  'Tollgate with its request log': { env: { LOG_LEVEL: 'info' }, isMute: true, title: 'no request log' },
};

/** Returns the rows and the failed requests. */
export async function processes(stage, { seconds }) {
  const gateways = [{ by: 'Tollgate', stage }];
  try {
    for (const [by, { env, title: _, ...options }] of Object.entries(others))
      gateways.push({ by, stage: await openStage({ ...options, env: { ...graphqlEnvironment(), ...env } }) });
    for (const gateway of gateways) gateway.headers = (await newOrg(gateway.stage)).headers;
    const sends = {
      ...Object.fromEntries(
        Object.entries(operations).map(([name, query]) => [
          name,
          ({ stage: { client }, headers }) => client.request(headers, query),
        ]),
      ),
      'submitCost, one org': ({ stage: { client }, headers }) =>
        client.request(headers, submitCost, {
          input: { requestId: randomUUID(), modelLabel: 'premium', inputTokens: 1500, outputTokens: 800 },
        }),
    };
    const rows = [];
    const failures = [];
    for (const [operation, send] of Object.entries(sends)) {
      const phases = gateways.map((gateway) => ({
        operation,
        by: gateway.by,
        pid: gateway.stage.pid,
        send: () => send(gateway),
        warmUpSeconds: 2,
      }));
      const measured = await measure(stage, phases, { seconds, inFlight: [inFlight] });
      rows.push(...measured.rows);
      failures.push(...measured.failures);
    }
    const comparisons = Object.keys(sends).flatMap((operation) =>
      Object.entries(others).map(([by, { title }]) => ({ operation, by, to: { by: 'Tollgate' }, title })),
    );
    return { rows: compare(rows, comparisons), failures, wrong: [] };
  } finally {
    for (const { stage: other } of gateways) if (other !== stage) await other.close();
  }
}
