// Five times what the gateway can serve: what is refused, how fast, what is still served, and how soon all is well again.
import { randomUUID } from 'node:crypto';
import { setPriority } from 'node:os';
import { performance } from 'node:perf_hooks';
import { newOrg } from './tenant.mjs';

const times = 5;
const listShare = 0.1;
const hardwareId = 'AA:BB:CC:DD:EE:FF';
const bootId = randomUUID();
const mostOutstanding = 1500;
const tickMs = 2;
const leastSeconds = 6;
const bars = { refusalMs: 50, goodput: 0.8, recoverySeconds: 10 };
const operations = {
  submitCost: 'mutation ($input: SubmitCostInput!) { submitCost(input: $input) { requestId } }',
  acquire: 'mutation ($input: AcquireInput!) { acquire(input: $input) { __typename } }',
  ingest: 'mutation ($input: IngestInput!) { ingest(input: $input) { settledBatchIds } }',
};
const entities = 10_000;
const readingsACall = 5;
const listQuery = '{ org { app(appId: \\"chat\\") { alerts(first: 50) { nodes { id kind } } } } }';

/** Prints what it has measured; what came back that should not is a failure. */
export async function overload(stage, { seconds: asked }) {
  const seconds = Math.max(leastSeconds, asked);
  // The load stands for other machines: it should not wait for the CPU that it takes from this one.
  try {
    setPriority(-10);
  } catch {
    console.log('no right to a higher priority: the latencies hold waiting of the load itself');
  }
  const { orgId, headers } = await newOrg(stage);
  const { createApiKey } = await stage.client.ask(
    stage.asAdmin,
    'mutation ($input: CreateApiKeyInput!) { createApiKey(input: $input) { secret } }',
    {
      input: { orgId },
    },
  );
  const device = { 'x-api-key': createApiKey.secret };
  await stage.client.ask(
    device,
    'mutation ($input: RegisterDeviceInput!) { registerDevice(input: $input) { device { hardwareId } } }',
    {
      input: { hardwareId, bootId, firmwareVersion: '1.0.0', capabilities: { sensors: ['bme280'] } },
    },
  );
  const wire = new Wire(stage.client, headers, device);
  // The compilers need thousands of requests; the peak is the best of what follows.
  await closedLoop(wire, 64, 4);
  const peaks = [await closedLoop(wire, 64, seconds), await closedLoop(wire, 256, seconds)];
  const peak = Math.max(...peaks);
  const before = await openLoop(wire, peak / 2, seconds, 0);
  await stage.client.widen(mostOutstanding);
  const flood = await openLoop(wire, peak * times, seconds + 2, listShare);
  const after = await openLoop(wire, peak / 2, 12, 0);

  const late = 2; // the first seconds fill what room there is
  const settled = flood.answers.filter(({ atMs }) => atMs > late * 1000);
  const span = seconds + 2 - late;
  const good = settled.filter(({ isGood, isList }) => isGood && !isList).length / span;
  const refusals = sorted(settled.filter(({ isGood }) => !isGood).map(({ ms }) => ms));
  const shareOf = (isList) => {
    const all = settled.filter((answer) => answer.isList === isList);
    return all.filter(({ isGood }) => isGood).length / Math.max(1, all.length);
  };
  const normalMs = Math.max(20, 3 * at(sorted(before.answers.map(({ ms }) => ms)), 0.99));
  const recovered = recoverySeconds(after.answers, normalMs);
  const verdict = (isMet) => (isMet ? 'met' : 'MISSED');
  console.log(
    `peak: ${peak.toFixed(0)} operations/s (${peaks.map((rate) => rate.toFixed(0)).join(' at 64, ')} at 256 in flight)`,
  );
  console.log(
    `offered: ${(flood.answers.length / (seconds + 2)).toFixed(0)}/s for ${seconds + 2} s, one in ten a list; not even sent: ${flood.unsent}`,
  );
  console.log(
    `goodput: ${good.toFixed(0)} operations/s, ${(good / peak).toFixed(2)} of the peak (>= ${bars.goodput}: ${verdict(good / peak >= bars.goodput)})`,
  );
  console.log(
    `refused: ${refusals.length}, p50 ${at(refusals, 0.5).toFixed(1)} ms, p99 ${at(refusals, 0.99).toFixed(1)} ms, longest ${at(refusals, 1).toFixed(1)} ms (< ${bars.refusalMs} ms at p99: ${verdict(at(refusals, 0.99) < bars.refusalMs)})`,
  );
  console.log(
    `served of submissions: ${(100 * shareOf(false)).toFixed(1)} %, of lists: ${(100 * shareOf(true)).toFixed(1)} % (lists first: ${verdict(shareOf(true) < shareOf(false))})`,
  );
  console.log(
    `back to normal after ${recovered} s (<= ${bars.recoverySeconds}: ${verdict(recovered <= bars.recoverySeconds)})`,
  );
  const odd = [...new Set([...before.answers, ...settled, ...after.answers].map(({ code }) => code))].filter(
    (code) => !known.has(code),
  );
  return { rows: [], failures: odd, wrong: [] };
}

const known = new Set(['ok', 'RATE_LIMITED', 'SERVICE_UNAVAILABLE']);
const sorted = (numbers) => Float64Array.from(numbers).sort();
const at = (numbers, share) => numbers[Math.min(numbers.length - 1, Math.floor(numbers.length * share))] ?? 0;

/** The first second from which on nothing is refused and all is as fast as before. */
function recoverySeconds(answers, normalMs) {
  const bySecond = [];
  for (const answer of answers) {
    const second = Math.floor(answer.atMs / 1000);
    bySecond[second] ??= [];
    bySecond[second].push(answer);
  }
  const lastBad = bySecond.findLastIndex(
    (all) => all?.some(({ isGood }) => !isGood) || at(sorted((all ?? []).map(({ ms }) => ms)), 0.95) > normalMs,
  );
  return lastBad + 1;
}

async function closedLoop(wire, inFlight, seconds) {
  const untilMs = performance.now() + seconds * 1000;
  let good = 0;
  const caller = async () => {
    while (performance.now() < untilMs) if ((await wire.submit()) === 'ok') good++;
  };
  await Promise.all(Array.from({ length: inFlight }, caller));
  return good / seconds;
}

/** So many a second, whether or not the ones before were answered. */
async function openLoop(wire, perSecond, seconds, lists) {
  const answers = [];
  let outstanding = 0;
  let sent = 0;
  let unsent = 0;
  const startedMs = performance.now();
  const send = async () => {
    const isList = Math.random() < lists;
    const atMs = performance.now();
    outstanding++;
    const code = await (isList ? wire.list() : wire.submit());
    outstanding--;
    answers.push({ atMs: atMs - startedMs, ms: performance.now() - atMs, code, isGood: code === 'ok', isList });
  };
  await new Promise((resolve) => {
    const timer = setInterval(() => {
      const elapsed = performance.now() - startedMs;
      if (elapsed > seconds * 1000) {
        clearInterval(timer);
        resolve();
        return;
      }
      for (const due = (elapsed * perSecond) / 1000; sent < due; sent++) {
        if (outstanding < mostOutstanding) void send();
        else unsent++;
      }
    }, tickMs);
  });
  while (outstanding > 0) await new Promise((resolve) => setTimeout(resolve, 20));
  return { answers, unsent };
}

/** The callers: of the three kinds that are shed last, and of lists. */
class Wire {
  constructor(client, app, device) {
    Object.assign(this, { client, app, device });
  }

  submit() {
    const kind = Math.floor(Math.random() * 3);
    if (kind === 0)
      return this.send(this.app, 'submitCost', {
        requestId: randomUUID(),
        modelLabel: 'premium',
        inputTokens: 1500,
        outputTokens: 800,
      });
    if (kind === 1)
      return this.send(this.app, 'acquire', {
        entityId: `user-${Math.floor(Math.random() * entities)}`,
        resource: 'api',
        consume: [{ limit: 'rpm', amount: 1 }],
        limits: [{ name: 'rpm', capacity: 1_000_000, refillPeriodSecs: 60 }],
      });
    return this.send(this.device, 'ingest', {
      readings: Array.from({ length: readingsACall }, () => ({
        hardwareId,
        batchId: randomUUID(),
        timestampMs: Date.now(),
        bootId,
        firmwareVersion: '1.0.0',
        sensors: { humidityPct: 40 },
        sensorStatus: {},
      })),
    });
  }

  send(headers, operation, input) {
    return this.post(headers, `{"query":"${operations[operation]}","variables":{"input":${JSON.stringify(input)}}}`);
  }

  list() {
    return this.post(this.app, `{"query":"${listQuery}"}`);
  }

  async post(headers, body) {
    try {
      const { status, text } = await this.client.post(headers, body);
      return /"code":"([A-Z_]+)"/.exec(text)?.[1] ?? (status === 200 ? 'ok' : String(status));
    } catch (error) {
      return error.message;
    }
  }
}
