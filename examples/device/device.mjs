// Simulates an ESP32 with a BME280 sensor: it registers at each boot, measures, keeps its readings in a ring buffer until
// Tollgate has stored them, and loses its network now and then.
//
// node examples/device/device.mjs [--readings 20] [--interval-ms 1000]
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { newFleet, newTenant } from '../tenant.mjs';

const { values } = parseArgs({
  options: {
    readings: { type: 'string', default: 'Infinity' },
    'interval-ms': { type: 'string', default: '1000' },
  },
});
const [readings, intervalMs] = [Number(values.readings), Number(values['interval-ms'])];

const { orgId, org } = await newTenant('Device example', {
  quotas: [{ label: 'economy', dailyUsdMicros: 1_000_000 }],
});
const tollgate = await newFleet(org);

const hardwareId = '24:6F:28:AE:52:7C';
const firmwareVersion = '1.0.16';
const bootId = randomUUID();
const maxBuffered = 500;
let buffer = [];

const registerDevice = `mutation ($input: RegisterDeviceInput!) {
  registerDevice(input: $input) { created device { confirmationId } }
}`;
const input = {
  hardwareId,
  bootId,
  firmwareVersion,
  friendlyName: 'greenhouse-01',
  capabilities: { sensors: ['bme280'] },
};
const { registerDevice: registered } = await tollgate.query(registerDevice, { input }, { isIdempotent: true });
console.log(`Device ${hardwareId} of the org ${orgId}: confirmation id ${registered.device.confirmationId}`);

/** A reading has an id of its own, so that sending it twice stores it once. */
function measure(number) {
  const round = (value) => Math.round(value * 100) / 100;
  buffer.push({
    hardwareId,
    batchId: `${bootId}-${number}`,
    timestampMs: Date.now(),
    bootId,
    firmwareVersion,
    sensors: {
      bme280TempC: round(21 + 3 * Math.sin(number / 10)),
      humidityPct: round(55 + 10 * Math.cos(number / 15)),
    },
    sensorStatus: { bme280: 'OK' },
  });
  // Like the memory of a device, the buffer loses its oldest readings first.
  buffer = buffer.slice(-maxBuffered);
}

/** Sends what is buffered, and keeps what Tollgate has not stored. */
async function upload() {
  try {
    const { settledBatchIds, verdicts } = await tollgate.devices.ingest(buffer);
    const rejected = verdicts.filter(({ kind }) => kind === 'REJECTED' || kind === 'CONFLICT');
    for (const { batchId, error } of rejected) console.error(`dropped ${batchId}: ${error?.message}`);
    const done = new Set([...settledBatchIds, ...rejected.map(({ batchId }) => batchId)]);
    buffer = buffer.filter(({ batchId }) => !done.has(batchId));
    console.log(`stored ${settledBatchIds.length}, buffered ${buffer.length}`);
  } catch (error) {
    console.error(`not sent (${error.code}); buffered ${buffer.length}`);
  }
}

for (let number = 1; number <= readings; number++) {
  measure(number);
  // Every fifth time there is no network.
  if (number % 5 === 0) console.log(`no network, buffered ${buffer.length}`);
  else await upload();
  await sleep(intervalMs);
}
if (buffer.length > 0) await upload();
