// ingest against the same work done by hand: raw transactions of two puts from one SDK client.
import { createHash, randomUUID } from 'node:crypto';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, QueryCommand, TransactWriteCommand } from '@aws-sdk/lib-dynamodb';
import { drive, together } from './load.mjs';
import { difference } from './report.mjs';
import { newOrg } from './tenant.mjs';

/** As the target has it, whatever the other parts run with. */
const inFlight = 16;
const deviceCount = 200;
const many = 100;
const checkedDevices = 20;
// One round each; the first is longer because it takes thousands of requests until the compilers have done their work.
const warmUpSeconds = [3, 0.5];
const mostARound = 200_000;
const retentionSecs = 90 * 86_400;

/** Measures, prints, and says how much failed. */
export async function devices(stage, { seconds }) {
  // So that all of it, with the counting afterwards, takes less than a minute.
  const roundSeconds = seconds / 2;
  const raw = rawTransactions(stage);
  const gateway = await fleet(stage);
  const phases = [
    { name: 'raw', readings: 1, isByHand: true, send: raw.send, runs: [] },
    { name: '1 a call', readings: 1, bar: 0.6, send: () => gateway.ingest(1), runs: [] },
    { name: `${many} a call`, readings: many, bar: 5, send: () => gateway.ingest(many), runs: [] },
  ];
  const warmUps = [];
  for (const warmUp of warmUpSeconds) {
    for (const { send, runs } of phases) {
      warmUps.push(await drive({ inFlight, seconds: warmUp, most: mostARound, send }));
      const [cpuBefore, unitsBefore] = [stage.cpu(), await stage.writeUnits()];
      const run = await drive({ inFlight, seconds: roundSeconds, most: mostARound, send });
      const cpuAfter = stage.cpu();
      runs.push({ ...run, units: (await stage.writeUnits()) - unitsBefore, cpu: difference(cpuAfter, cpuBefore) });
    }
  }
  const results = phases.map(({ send, ...phase }) => ({ ...phase, ...together(phase.runs) }));
  printReadings(results);
  console.log(`${inFlight} in flight, ${roundSeconds} s a round; readings of ${deviceCount} devices, mixed within a call`);
  const failures = [...results, ...warmUps].flatMap((result) => result.failures);
  for (const failure of failures.slice(0, 3)) console.log(`failed: ${failure?.stack ?? failure}`);
  const wrong = [...(await gateway.wrong()), ...(await raw.wrong())];
  for (const fault of wrong.slice(0, 5)) console.log(`not exact: ${fault}`);
  raw.close();
  const acknowledged = [...gateway.acknowledged.values()].reduce((sum, count) => sum + count, 0);
  console.log(
    `exactness: ${wrong.length === 0 ? 'yes' : 'NO'}; the readings there of ${checkedDevices} devices against those acknowledged, ${acknowledged} of all devices, warm-ups included`,
  );
  console.log(`failed requests: ${failures.length}`);
  return failures.length + wrong.length;
}

/** A line a phase, all but the latencies by the reading: a call has one or many. What is done by hand consumes no write units of the gateway. */
function printReadings(results) {
  const [byHand] = results;
  const rows = results.map(({ name, readings, bar, runs, count, perSecond, p50, p99, isByHand }) => {
    const total = (pick) => runs.reduce((sum, run) => sum + pick(run), 0);
    const msAReading = (who) => ((total((run) => run.cpu[who]) * 1000) / (count * readings)).toFixed(3);
    const ratio = (perSecond * readings) / byHand.perSecond;
    return [
      name,
      String(count),
      (perSecond * readings).toFixed(0),
      runs.map((run) => ((run.latencies.length * readings) / run.seconds).toFixed(0)).join(' '),
      p50.toFixed(1),
      p99.toFixed(1),
      isByHand ? '' : msAReading('gateway'),
      msAReading('engine'),
      msAReading('load'),
      isByHand ? '' : (total((run) => run.units) / (count * readings)).toFixed(2),
      ratio.toFixed(2),
      bar === undefined ? '' : `>= ${bar}: ${ratio >= bar ? 'met' : 'MISSED'}`,
    ];
  });
  const head = [
    'phase',
    'calls',
    'readings/s',
    'by round',
    'p50 ms a call',
    'p99 ms a call',
    'gateway CPU ms/reading',
    'engine CPU',
    'load CPU',
    'write units/reading',
    'x raw',
    'bar',
  ];
  const widths = head.map((title, column) => Math.max(title.length, ...rows.map((row) => row[column].length)));
  for (const row of [head, ...rows])
    console.log(row.map((cell, column) => (column === 0 ? cell.padEnd(widths[column]) : cell.padStart(widths[column]))).join('  '));
}

const macOf = (i) => `02:00:00:00:${hex(i >> 8)}:${hex(i & 255)}`;
const hex = (byte) => byte.toString(16).padStart(2, '0').toUpperCase();
const between = (min, max) => Math.round((min + Math.random() * (max - min)) * 100) / 100;
const bootId = randomUUID();

const newSensors = () => ({
  bme280TempC: between(-10, 40),
  ds18b20TempC: between(-10, 40),
  humidityPct: between(0, 100),
  pressureHpa: between(950, 1050),
  soilMoisturePct: between(0, 100),
});

const createKey = 'mutation ($input: CreateApiKeyInput!) { createApiKey(input: $input) { secret } }';
const registerDevice = 'mutation ($input: RegisterDeviceInput!) { registerDevice(input: $input) { created } }';
const ingestReadings = `mutation Ingest($input: IngestInput!) {
  ingest(input: $input) { settledBatchIds verdicts { index batchId kind error { code message } } }
}`;
const readingsOf = `query ($orgId: UUID!, $hardwareId: String!, $after: String) {
  org(orgId: $orgId) { device(hardwareId: $hardwareId) { readings(first: 1000, after: $after) { nodes { batchId } pageInfo { hasNextPage endCursor } } } }
}`;

/** The gateway, asked by devices with an API key over HTTP. */
async function fleet(stage) {
  const { client, asAdmin } = stage;
  const { orgId } = await newOrg(stage);
  const { createApiKey } = await client.ask(asAdmin, createKey, { input: { orgId } });
  const headers = { 'x-api-key': createApiKey.secret };
  const macs = Array.from({ length: deviceCount }, (_, i) => macOf(i));
  for (const hardwareId of macs) {
    const input = { hardwareId, bootId, firmwareVersion: '1.4.2', friendlyName: 'Bench', capabilities: { sensors: ['bme280', 'ds18b20'], features: [] } };
    await client.ask(headers, registerDevice, { input });
  }
  const acknowledged = new Map(macs.map((mac) => [mac, 0]));
  let next = 0;
  const newReading = () => ({
    hardwareId: macs[next++ % macs.length],
    batchId: `${bootId}:${next}`,
    timestampMs: Date.now(),
    bootId,
    firmwareVersion: '1.4.2',
    sensors: newSensors(),
    sensorStatus: { bme280: 'OK', ds18b20: 'OK', soilMoisture: 'OK' },
  });
  return {
    acknowledged,
    async ingest(count) {
      const readings = Array.from({ length: count }, newReading);
      const { verdicts, settledBatchIds } = (await client.ask(headers, ingestReadings, { input: { readings } })).ingest;
      for (const { index, kind } of verdicts) {
        const { hardwareId } = readings[index];
        if (kind === 'STORED') acknowledged.set(hardwareId, acknowledged.get(hardwareId) + 1);
      }
      const other = verdicts.find(({ kind }) => kind !== 'STORED');
      if (other || settledBatchIds.length !== count) throw new Error(`not stored: ${JSON.stringify(other)}`);
    },
    /** Some of the devices, evenly over all. */
    async wrong() {
      const wrong = [];
      for (let i = 0; i < deviceCount; i += deviceCount / checkedDevices) {
        const hardwareId = macs[i];
        const ids = [];
        for (let after = null, more = true; more; ) {
          const { nodes, pageInfo } = (await client.ask(asAdmin, readingsOf, { orgId, hardwareId, after })).org.device.readings;
          ids.push(...nodes.map(({ batchId }) => batchId));
          after = pageInfo.endCursor;
          more = pageInfo.hasNextPage;
        }
        const expected = acknowledged.get(hardwareId);
        if (ids.length !== expected || new Set(ids).size !== expected) wrong.push(`device ${hardwareId}: ${ids.length} there, acknowledged ${expected}`);
      }
      return wrong;
    },
  };
}

/** What a service without a gateway would do: the marker if absent and the reading, in one transaction; the client as it comes. */
function rawTransactions({ store, tableName }) {
  const low = new DynamoDBClient(store);
  const client = DynamoDBDocumentClient.from(low);
  const [batches, readings] = [tableName('processed_batches'), tableName('device_readings')];
  const orgId = randomUUID();
  const acknowledged = new Map();
  let next = 0;
  return {
    async send() {
      const mac = macOf(next++ % deviceCount);
      const batchId = `${bootId}:${next}`;
      const nowMs = Date.now();
      const expires = Math.floor(nowMs / 1000) + retentionSecs;
      const { bme280TempC, ds18b20TempC, humidityPct, pressureHpa, soilMoisturePct } = newSensors();
      const sensors = {
        bme280_temp_c: bme280TempC,
        ds18b20_temp_c: ds18b20TempC,
        humidity_pct: humidityPct,
        pressure_hpa: pressureHpa,
        soil_moisture_pct: soilMoisturePct,
      };
      const payloadHash = createHash('sha256').update(JSON.stringify(sensors)).digest('hex');
      const hardwareId = `${orgId}/${mac}`;
      const marker = {
        batch_id: `${hardwareId}/${batchId}`,
        hardware_id: mac,
        received_at: new Date(nowMs).toISOString(),
        payload_hash: payloadHash,
        expiration_time: expires,
      };
      const reading = {
        hardware_id: hardwareId,
        ts_batch: `${String(nowMs).padStart(13, '0')}#${batchId}`,
        timestamp_ms: nowMs,
        batch_id: batchId,
        boot_id: bootId,
        firmware_version: '1.4.2',
        friendly_name: 'Bench',
        sensors,
        sensor_status: { bme280: 'ok', ds18b20: 'ok', soil_moisture: 'ok' },
        payload_hash: payloadHash,
        expiration_time: expires,
      };
      await client.send(
        new TransactWriteCommand({
          TransactItems: [
            { Put: { TableName: batches, Item: marker, ConditionExpression: 'attribute_not_exists(batch_id)' } },
            { Put: { TableName: readings, Item: reading } },
          ],
        }),
      );
      acknowledged.set(mac, (acknowledged.get(mac) ?? 0) + 1);
    },
    async wrong() {
      const mac = macOf(0);
      let there = 0;
      for (let start, more = true; more; ) {
        const { Count, LastEvaluatedKey } = await client.send(
          new QueryCommand({
            TableName: readings,
            KeyConditionExpression: 'hardware_id = :device',
            ExpressionAttributeValues: { ':device': `${orgId}/${mac}` },
            Select: 'COUNT',
            ConsistentRead: true,
            ExclusiveStartKey: start,
          }),
        );
        there += Count;
        start = LastEvaluatedKey;
        more = start !== undefined;
      }
      return there === acknowledged.get(mac) ? [] : [`raw: ${there}, acknowledged ${acknowledged.get(mac)}`];
    },
    close: () => low.destroy(),
  };
}
