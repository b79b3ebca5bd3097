// Overload with the gateway alone on one core. Load, engine and a store that answers after 5 ms are on the other.
import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Client } from './load.mjs';
import { cpuMs, freePort, ready, startProcess } from './stage.mjs';
import { newOrg } from './tenant.mjs';

const [gatewayCore, otherCore] = [0, 1];
const storeMs = 5;
const peakInFlight = 128;
const maxOutstanding = 1500;
const tickMs = 2;
const minSeconds = 6;
const bars = { goodputAtTwice: 0.9, refusalCpu: 1.5 };
const submitCost = 'mutation ($input: SubmitCostInput!) { submitCost(input: $input) { requestId } }';
const refusals = new Set(['RATE_LIMITED', 'SERVICE_UNAVAILABLE']);

const pathOf = (file) => fileURLToPath(new URL(file, import.meta.url));

/** The options of the stage: a pinned gateway with the stub between it and the engine. */
export function pinnedStage() {
  if (spawnSync('taskset', ['-cp', String(otherCore), String(process.pid)]).status !== 0)
    throw new Error('taskset is missing (Debian: util-linux), or there is only one core');
  return {
    core: gatewayCore,
    async storeBehind(endpoint) {
      const port = await freePort();
      const url = `http://127.0.0.1:${port}`;
      const stub = startProcess(
        [pathOf('stub-store.mjs'), endpoint, String(port), String(storeMs)],
        {},
        { core: otherCore },
      );
      await listening(stub, url);
      return url;
    },
  };
}

/** Prints its figures. An unexpected error code is a failure. */
export async function pinned(stage, { seconds: requested }) {
  const seconds = Math.max(minSeconds, requested);
  const { headers } = await newOrg(stage);
  const submit = callerOf(stage.client, headers);
  await closedLoop(submit, peakInFlight, 4);
  const peak = await usedDuring(stage, () => closedLoop(submit, peakInFlight, seconds));
  const servedUs = (1000 * peak.cpuMs) / peak.result.good;
  const peakRate = peak.result.good / seconds;
  console.log(`peak: ${peakRate.toFixed(0)} costs/s, ${servedUs.toFixed(0)} µs of gateway CPU each`);
  await stage.client.openConnections(maxOutstanding);
  const bareUs = await bareServerUs(seconds);
  console.log(`a bare Node server: ${bareUs.toFixed(0)} µs per request`);
  const codes = new Set();
  for (const factor of [2, 5]) {
    const flood = await usedDuring(stage, () => openLoop(submit, peakRate * factor, seconds));
    const { good, refused, seconds: span } = flood.result;
    for (const code of flood.result.codes) codes.add(code);
    const goodput = good / span / peakRate;
    const refusalUs = (1000 * flood.cpuMs - good * servedUs) / Math.max(1, refused);
    const isJudged = factor === 2;
    console.log(
      `${factor} times the peak: goodput ${goodput.toFixed(2)} of the peak` +
        (isJudged ? ` (bar ≥ ${bars.goodputAtTwice}: ${verdict(goodput >= bars.goodputAtTwice)})` : '') +
        `, ${refused} refused at ${refusalUs.toFixed(0)} µs, ${(refusalUs / bareUs).toFixed(2)} × bare` +
        (isJudged ? '' : ` (bar ≤ ${bars.refusalCpu}: ${verdict(refusalUs / bareUs <= bars.refusalCpu)})`),
    );
  }
  const patient = await closedLoop(submit, maxOutstanding, seconds, true);
  console.log(
    `${maxOutstanding} callers that honour Retry-After: goodput ${(patient.good / seconds / peakRate).toFixed(2)} ` +
      `of the peak, ${patient.refused} refused`,
  );
  const failures = [...codes, ...patient.codes].filter((code) => code !== 'ok' && !refusals.has(code));
  return { rows: [], failures, wrong: [] };
}

const verdict = (isMet) => (isMet ? 'met' : 'MISSED');

const callerOf = (client, headers) => async () => {
  const input = { requestId: randomUUID(), modelLabel: 'premium', inputTokens: 1500, outputTokens: 800 };
  const { status, text, retryAfterSecs } = await client.post(
    headers,
    JSON.stringify({ query: submitCost, variables: { input } }),
  );
  return { code: /"code":"([A-Z_]+)"/.exec(text)?.[1] ?? (status === 200 ? 'ok' : String(status)), retryAfterSecs };
};

async function usedDuring(stage, work) {
  const before = cpuMs(stage.pid);
  const result = await work();
  return { result, cpuMs: cpuMs(stage.pid) - before };
}

class Tally {
  good = 0;
  refused = 0;
  codes = new Set();

  add(code) {
    this.codes.add(code);
    if (code === 'ok') this.good++;
    else this.refused++;
  }
}

/** A fixed number of callers. A patient one waits as long as a refusal says. */
async function closedLoop(submit, callers, seconds, isPatient = false) {
  const tally = new Tally();
  const untilMs = performance.now() + seconds * 1000;
  const caller = async () => {
    while (performance.now() < untilMs) {
      const { code, retryAfterSecs } = await submit();
      tally.add(code);
      const restMs = untilMs - performance.now();
      if (code !== 'ok' && isPatient)
        await sleep(Math.max(0, Math.min(restMs, retryAfterSecs * 1000 * (1 + Math.random()))));
    }
  };
  await Promise.all(Array.from({ length: callers }, caller));
  return tally;
}

/** Sends `perSecond` requests, whether or not earlier ones have a response. */
async function openLoop(submit, perSecond, seconds) {
  const tally = new Tally();
  let outstanding = 0;
  let sent = 0;
  const startedMs = performance.now();
  const send = async () => {
    outstanding++;
    tally.add((await submit()).code);
    outstanding--;
  };
  for (let elapsed = 0; elapsed < seconds * 1000; elapsed = performance.now() - startedMs) {
    for (const due = (elapsed * perSecond) / 1000; sent < due; sent++) if (outstanding < maxOutstanding) void send();
    await sleep(tickMs);
  }
  while (outstanding > 0) await sleep(tickMs);
  return Object.assign(tally, { seconds: (performance.now() - startedMs) / 1000 });
}

/** The CPU per request of a Node server that only reads the request and refuses it, on the core of the gateway. */
async function bareServerUs(seconds) {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}/`;
  const script = `require('node:http').createServer((request, response) => {
    request.resume().on('end', () => {
      response.writeHead(503, { 'content-type': 'application/json', 'retry-after': '1' });
      response.end('{"errors":[{"message":"the gateway is overloaded","extensions":{"code":"SERVICE_UNAVAILABLE"}}]}');
    });
  }).listen(${port}, '127.0.0.1')`;
  const server = startProcess(['-e', script], {}, { core: gatewayCore });
  try {
    await listening(server, url);
    const client = new Client(url);
    const submit = callerOf(client, {});
    await closedLoop(submit, peakInFlight, 2);
    const before = cpuMs(server.child.pid);
    const { refused } = await closedLoop(submit, peakInFlight, seconds / 2);
    client.close();
    return (1000 * (cpuMs(server.child.pid) - before)) / refused;
  } finally {
    await server.stop();
  }
}

/** Resolves when the process answers, whatever it answers. */
async function listening(server, url) {
  await ready(server, url, { method: 'POST' }, () => true);
}
