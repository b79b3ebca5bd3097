// admit and settle against submitCost alone, and against a client that asks `modelSelection` and then submits the cost.
import { randomUUID } from 'node:crypto';
import { compare, measure } from './measure.mjs';
import { submit, wrongOrgs } from './spend.mjs';
import { newOrg } from './tenant.mjs';

const usage = { inputTokens: 1500, outputTokens: 800 };
const cost = 16_500; // the cost of this usage at the default price of `premium`
const estimate = { inputTokens: 1500, maxOutputTokens: 1000 };
const several = 10;

/** The gateway concurrency of one org would reject calls at more. */
const inFlight = [1, 64];

/** Returns the rows, the failed requests, and the figures that are not exact. */
export async function admit(stage, { seconds }) {
  const place = async (enforcement) => ({ ...(await newOrg(stage, { enforcement })), acknowledged: new Map() });
  const one = { hard: await place('HARD'), advisory: await place('ADVISORY') };
  const many = [];
  for (let i = 0; i < several; i++) many.push({ hard: await place('HARD'), advisory: await place('ADVISORY') });
  const any = () => many[Math.floor(Math.random() * many.length)];
  const titles = { 'one org': () => one, [`${several} orgs`]: any };
  const phases = Object.entries(titles).flatMap(([title, pick]) =>
    [
      [`submitCost, ${title}`, () => submit(stage, pick().advisory)],
      [`submitCost, ${title}, HARD`, () => submit(stage, pick().hard)],
      [`modelSelection + submitCost, ${title}`, () => twoCalls(stage, pick().advisory)],
      [`admit + settle, ${title}, ADVISORY`, () => admitted(stage, pick().advisory)],
      [`admit + settle, ${title}, HARD`, () => admitted(stage, pick().hard)],
    ].map(([operation, send]) => ({ operation, by: 'Tollgate', send })),
  );
  const { rows, failures } = await measure(stage, phases, { seconds, inFlight, countAt: inFlight });
  const comparisons = Object.keys(titles).flatMap((title) =>
    ['ADVISORY', 'HARD'].flatMap((enforcement) =>
      ['submitCost', 'modelSelection + submitCost'].map((other) => ({
        operation: `admit + settle, ${title}, ${enforcement}`,
        to: { operation: `${other}, ${title}`, by: 'Tollgate' },
        title: other,
      })),
    ),
  );
  const orgs = [one, ...many].flatMap(({ hard, advisory }) => [hard, advisory]);
  return {
    rows: compare(rows, comparisons),
    failures,
    wrong: await wrongOrgs(stage, orgs),
    exactness: `the EXACT spend of ${orgs.length} orgs with the acknowledged costs`,
  };
}

const selection = '{ me { app { modelSelection { allowed label bedrockModelId mode recheckAfterSecs resetsAt } } } }';
const admitDocument = `mutation Admit($input: AdmitInput!) { admit(input: $input) {
  __typename
  ... on Admitted { admissionId label modelId reservedUsdMicros expiresAt }
  ... on Denied { binding { kind name missing wouldPass } retryAt }
} }`;
const settleDocument =
  'mutation Settle($input: SettleInput!) { ' +
  'settle(input: $input) { requestId replayed label day costUsdMicros priceSource } }';

/** What a client without `admit` does: it asks for a model, and submits the cost after the call. */
async function twoCalls(stage, org) {
  const { me } = await stage.client.request(org.headers, selection);
  if (!me.app.modelSelection.allowed) throw new Error('no model is allowed');
  await submit(stage, org);
}

/** Reserves, settles, and adds the cost to the acknowledged costs of the org. */
async function admitted({ client }, { headers, acknowledged }) {
  const { admit: admission } = await client.request(headers, admitDocument, {
    input: { requestId: randomUUID(), estimate },
  });
  if (admission.__typename !== 'Admitted') throw new Error(`denied: ${JSON.stringify(admission)}`);
  const { settle: receipt } = await client.request(headers, settleDocument, {
    input: { admissionId: admission.admissionId, ...usage },
  });
  const day = acknowledged.get(receipt.day) ?? { costUsdMicros: 0, requests: 0 };
  day.costUsdMicros += receipt.costUsdMicros;
  day.requests += 1;
  acknowledged.set(receipt.day, day);
  if (receipt.replayed || receipt.costUsdMicros !== cost) throw new Error(`wrong receipt: ${JSON.stringify(receipt)}`);
}
