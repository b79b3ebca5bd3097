// A process with a client of Tollgate: makes metered calls, and sends what an earlier process has left.
// Prints a line when a call is made. The call counts as made once the line is written.
import { appendFileSync } from 'node:fs';
import { Tollgate } from '@tollgate/client';
import { fileOutbox } from '@tollgate/client/outbox';

const { url, credentials, directory, log, plan } = JSON.parse(process.env.CLIENT_PLAN);
const concurrency = 8;
const closeMs = 120_000;

const tollgate = new Tollgate({
  url,
  credentials,
  timeoutMs: 5_000,
  outbox: fileOutbox(directory),
  hooks: { dead: ({ entry, error }) => write({ dead: entry.id, code: error.code }) },
});

const write = (line) => appendFileSync(log, `${JSON.stringify(line)}\n`);
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

async function make({ requestId, estimate, usage, outcome, ms }) {
  const call = async ({ report }) => {
    write({ made: requestId });
    await pause(ms);
    if (outcome === 'abort') report(usage);
    if (outcome !== 'ok') throw new Error('the call failed');
    return { value: undefined, usage };
  };
  // A failed admission made no call. The end of a call is the business of the outbox.
  await tollgate.spend.meter({ requestId, estimate }, call).catch(() => undefined);
}

await tollgate.open();
const open = [...plan];
await Promise.all(
  Array.from({ length: concurrency }, async () => {
    for (let next = open.shift(); next; next = open.shift()) await make(next);
  }),
);
await tollgate.flush();
await tollgate.close({ waitMs: closeMs });
write({ ended: true });
