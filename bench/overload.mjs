// Five times the load that the gateway can serve: rejected requests and their latency, goodput, and the recovery time.
import { randomUUID } from 'node:crypto';
import { setPriority } from 'node:os';
import { performance } from 'node:perf_hooks';
import { newOrg } from './tenant.mjs';

const overloadFactor = 5;
const listShare = 0.1;
const hardwareId = 'AA:BB:CC:DD:EE:FF';
const bootId = randomUUID();
const maxOutstanding = 1500;
const tickMs = 2;
const minSeconds = 6;
const bars = { rejectionMs: 50, goodput: 0.8, recoverySeconds: 10 };
const operations = {
  submitCost: 'mutation ($input: SubmitCostInput!) { submitCost(input: $input) { requestId } }',
  acquire: 'mutation ($input: AcquireInput!) { acquire(input: $input) { __typename } }',
  ingest: 'mutation ($input: IngestInput!) { ingest(input: $input) { settledBatchIds } }',
};
const entities = 10_000;
const readingsPerCall = 5;
const listQuery = '{ org { app(appId: \\"chat\\") { alerts(first: 50) { nodes { id kind } } } } }';

/** Prints its figures. An unexpected error code is a failure. */
export async function overload(stage, { seconds: requested }) {
  const seconds = Math.max(minSeconds, requested);
  // The load represents other machines, so it must not wait for the CPU that it shares with the gateway.
  try {
    setPriority(-10);
  } catch {
    console.log('cannot raise the priority of the load: latencies include the time in which the load waits for CPU');
  }
  const { orgId, headers } = await newOrg(stage);
  const { createApiKey } = await stage.client.request(
    stage.asAdmin,
    'mutation ($input: CreateApiKeyInput!) { createApiKey(input: $input) { secret } }',
    {
      input: { orgId },
    },
  );
  const device = { 'x-api-key': createApiKey.secret };
  await stage.client.request(
    device,
    'mutation ($input: RegisterDeviceInput!) { registerDevice(input: $input) { device { hardwareId } } }',
    {
      input: { hardwareId, bootId, firmwareVersion: '1.0.0', capabilities: { sensors: ['bme280'] } },
    },
  );
  const callers = new Callers(stage.client, headers, device);
  // Warm-up for the JIT compilers. The peak is the maximum of the following two runs.
  await closedLoop(callers, 64, 4);
  const peaks = [await closedLoop(callers, 64, seconds), await closedLoop(callers, 256, seconds)];
  const peak = Math.max(...peaks);
  const before = await openLoop(callers, peak / 2, seconds, 0);
  await stage.client.openConnections(maxOutstanding);
  const flood = await openLoop(callers, peak * overloadFactor, seconds + 2, listShare);
  const after = await openLoop(callers, peak / 2, 12, 0);

  const warmUp = 2; // the first seconds fill the queues
  const settled = flood.responses.filter(({ atMs }) => atMs > warmUp * 1000);
  const span = seconds + 2 - warmUp;
  const good = settled.filter(({ isGood, isList }) => isGood && !isList).length / span;
  const rejections = sorted(settled.filter(({ isGood }) => !isGood).map(({ ms }) => ms));
  const shareOf = (isList) => {
    const all = settled.filter((response) => response.isList === isList);
    return all.filter(({ isGood }) => isGood).length / Math.max(1, all.length);
  };
  const normalMs = Math.max(20, 3 * at(sorted(before.responses.map(({ ms }) => ms)), 0.99));
  const recovered = recoverySeconds(after.responses, normalMs);
  const verdict = (isMet) => (isMet ? 'met' : 'MISSED');
  console.log(
    `peak: ${peak.toFixed(0)} operations/s (${peaks.map((rate) => rate.toFixed(0)).join(' at 64, ')} at 256 in flight)`,
  );
  console.log(
    `offered: ${(flood.responses.length / (seconds + 2)).toFixed(0)}/s for ${seconds + 2} s, 10 % lists; ` +
      `not sent because ${maxOutstanding} were outstanding: ${flood.unsent}`,
  );
  console.log(
    `goodput: ${good.toFixed(0)} operations/s, ${(good / peak).toFixed(2)} of the peak ` +
      `(>= ${bars.goodput}: ${verdict(good / peak >= bars.goodput)})`,
  );
  console.log(
    `rejected: ${rejections.length}, p50 ${at(rejections, 0.5).toFixed(1)} ms, ` +
      `p99 ${at(rejections, 0.99).toFixed(1)} ms, max ${at(rejections, 1).toFixed(1)} ms ` +
      `(< ${bars.rejectionMs} ms at p99: ${verdict(at(rejections, 0.99) < bars.rejectionMs)})`,
  );
  console.log(
    `served: ${(100 * shareOf(false)).toFixed(1)} % of submissions, ${(100 * shareOf(true)).toFixed(1)} % of lists ` +
      `(lists are shed first: ${verdict(shareOf(true) < shareOf(false))})`,
  );
  console.log(
    `recovered after ${recovered} s (<= ${bars.recoverySeconds}: ${verdict(recovered <= bars.recoverySeconds)})`,
  );
  const unexpected = [...new Set([...before.responses, ...settled, ...after.responses].map(({ code }) => code))].filter(
    (code) => !expectedCodes.has(code),
  );
  return { rows: [], failures: unexpected, wrong: [] };
}

const expectedCodes = new Set(['ok', 'RATE_LIMITED', 'SERVICE_UNAVAILABLE']);
const sorted = (numbers) => Float64Array.from(numbers).sort();
const at = (numbers, share) => numbers[Math.min(numbers.length - 1, Math.floor(numbers.length * share))] ?? 0;

/** The first second from which on no request is rejected and the latency is as before. */
function recoverySeconds(responses, normalMs) {
  const bySecond = [];
  for (const response of responses) {
    const second = Math.floor(response.atMs / 1000);
    bySecond[second] ??= [];
    bySecond[second].push(response);
  }
  const lastBad = bySecond.findLastIndex(
    (all) => all?.some(({ isGood }) => !isGood) || at(sorted((all ?? []).map(({ ms }) => ms)), 0.95) > normalMs,
  );
  return lastBad + 1;
}

async function closedLoop(callers, inFlight, seconds) {
  const untilMs = performance.now() + seconds * 1000;
  let good = 0;
  const caller = async () => {
    while (performance.now() < untilMs) if ((await callers.submit()) === 'ok') good++;
  };
  await Promise.all(Array.from({ length: inFlight }, caller));
  return good / seconds;
}

/** Sends `perSecond` requests, whether or not earlier ones have a response. */
async function openLoop(callers, perSecond, seconds, lists) {
  const responses = [];
  let outstanding = 0;
  let sent = 0;
  let unsent = 0;
  const startedMs = performance.now();
  const send = async () => {
    const isList = Math.random() < lists;
    const atMs = performance.now();
    outstanding++;
    const code = await (isList ? callers.list() : callers.submit());
    outstanding--;
    responses.push({ atMs: atMs - startedMs, ms: performance.now() - atMs, code, isGood: code === 'ok', isList });
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
        if (outstanding < maxOutstanding) void send();
        else unsent++;
      }
    }, tickMs);
  });
  while (outstanding > 0) await new Promise((resolve) => setTimeout(resolve, 20));
  return { responses, unsent };
}

/** Sends the three operations that are shed last, and lists. */
class Callers {
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
      readings: Array.from({ length: readingsPerCall }, () => ({
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
