// ingest against the same work by raw transactions of two puts of one SDK client.
import { createHash, randomUUID } from 'node:crypto';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, QueryCommand, TransactWriteCommand } from '@aws-sdk/lib-dynamodb';
import { generationOf } from '../dist/devices/device.js';
import { readingsKey } from '../dist/devices/device-keys.js';
import { compare, measure } from './measure.mjs';
import { newOrg } from './tenant.mjs';

const deviceCount = 200;
const many = 100;
const page = 100;
const checkedDevices = 20;
const retentionSecs = 90 * 86_400;
/** The level at which the bars of this part apply. */
const barLevel = 16;

/** Returns rows per reading, the failed requests, and the figures that are not exact. */
export async function devices(stage, { seconds }) {
  const raw = rawTransactions(stage);
  const gateway = await fleet(stage);
  const writing = await measure(
    stage,
    [
      { operation: 'two puts in a transaction', by: 'raw SDK', isOwnProcess: true, send: raw.send },
      {
        operation: 'ingest, 1 per call (per reading)',
        by: 'Tollgate',
        send: () => gateway.ingest(1),
        warmUpSeconds: 3,
      },
      {
        operation: `ingest, ${many} per call (per reading)`,
        by: 'Tollgate',
        units: many,
        maxInFlight: barLevel,
        send: () => gateway.ingest(many),
      },
    ],
    { seconds },
  );
  const reading = await measure(
    stage,
    [
      { operation: `query of ${page} readings`, by: 'raw SDK', isOwnProcess: true, send: gateway.rawPage },
      { operation: `readings, ${page} of a device`, by: 'Tollgate', send: gateway.page },
    ],
    { seconds: seconds / 2 },
  );
  const wrong = [...(await gateway.wrong()), ...(await raw.wrong())];
  raw.close();
  gateway.close();
  const acknowledged = [...gateway.acknowledged.values()].reduce((sum, count) => sum + count, 0);
  const rawWrite = { operation: 'two puts in a transaction', by: 'raw SDK' };
  return {
    rows: compare(
      [...writing.rows, ...reading.rows],
      [
        { operation: 'ingest, 1 per call (per reading)', to: rawWrite, bar: 0.8, at: barLevel },
        { operation: 'ingest, 1 per call (per reading)', figure: 'writeUnits', bar: 3, at: barLevel },
        { operation: `ingest, ${many} per call (per reading)`, to: rawWrite, bar: 5, at: barLevel },
        { operation: `ingest, ${many} per call (per reading)`, figure: 'writeUnits', bar: 1.25, at: barLevel },
        {
          operation: `readings, ${page} of a device`,
          to: { operation: `query of ${page} readings`, by: 'raw SDK' },
          bar: 3,
        },
      ],
    ),
    failures: [...writing.failures, ...reading.failures],
    wrong,
    exactness: `the stored readings of ${checkedDevices} devices with the acknowledged ones (${acknowledged} in total)`,
  };
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
const registerDevice =
  'mutation ($input: RegisterDeviceInput!) { registerDevice(input: $input) { device { confirmationId } } }';
const ingestReadings = `mutation Ingest($input: IngestInput!) {
  ingest(input: $input) { settledBatchIds verdicts { index batchId kind error { code message } } }
}`;
const readingsOf = `query ($orgId: UUID!, $hardwareId: String!, $after: String) {
  org(orgId: $orgId) { device(hardwareId: $hardwareId) {
    readings(first: 1000, after: $after) { nodes { batchId } pageInfo { hasNextPage endCursor } }
  } }
}`;

const pageOf = `query ($orgId: UUID!, $hardwareId: String!) {
  org(orgId: $orgId) { device(hardwareId: $hardwareId) { readings(first: ${page}) { nodes {
    batchId timestampMs bootId firmwareVersion friendlyName
    sensors { bme280TempC ds18b20TempC humidityPct pressureHpa soilMoisturePct }
  } } } }
}`;

/** The gateway, called over HTTP by devices with an API key. */
async function fleet(stage) {
  const { client, asAdmin } = stage;
  const { orgId } = await newOrg(stage);
  const { createApiKey } = await client.request(asAdmin, createKey, { input: { orgId } });
  const headers = { 'x-api-key': createApiKey.secret };
  const macs = Array.from({ length: deviceCount }, (_, i) => macOf(i));
  const confirmationIds = [];
  for (const hardwareId of macs) {
    const input = {
      hardwareId,
      bootId,
      firmwareVersion: '1.4.2',
      friendlyName: 'Bench',
      capabilities: { sensors: ['bme280', 'ds18b20'], features: [] },
    };
    confirmationIds.push(
      (await client.request(headers, registerDevice, { input })).registerDevice.device.confirmationId,
    );
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
  const sdk = new DynamoDBClient(stage.store);
  const docs = DynamoDBDocumentClient.from(sdk);
  const [read] = macs;
  return {
    acknowledged,
    page: () => client.request(asAdmin, pageOf, { orgId, hardwareId: read }),
    rawPage: () =>
      docs.send(
        new QueryCommand({
          TableName: stage.tableName('device_readings'),
          KeyConditionExpression: 'hardware_id = :device',
          ExpressionAttributeValues: {
            ':device': readingsKey({ orgId, hardwareId: read, generation: generationOf(confirmationIds[0]) })
              .hardware_id,
          },
          ScanIndexForward: false,
          Limit: page,
        }),
      ),
    close: () => sdk.destroy(),
    async ingest(count) {
      const readings = Array.from({ length: count }, newReading);
      const { verdicts, settledBatchIds } = (await client.request(headers, ingestReadings, { input: { readings } }))
        .ingest;
      for (const { index, kind } of verdicts) {
        const { hardwareId } = readings[index];
        if (kind === 'STORED') acknowledged.set(hardwareId, acknowledged.get(hardwareId) + 1);
      }
      const other = verdicts.find(({ kind }) => kind !== 'STORED');
      if (other || settledBatchIds.length !== count) throw new Error(`not stored: ${JSON.stringify(other)}`);
    },
    /** Checks some of the devices, spread evenly. */
    async wrong() {
      const wrong = [];
      for (let i = 0; i < deviceCount; i += deviceCount / checkedDevices) {
        const hardwareId = macs[i];
        const ids = [];
        for (let after = null, more = true; more; ) {
          const { nodes, pageInfo } = (await client.request(asAdmin, readingsOf, { orgId, hardwareId, after })).org
            .device.readings;
          ids.push(...nodes.map(({ batchId }) => batchId));
          after = pageInfo.endCursor;
          more = pageInfo.hasNextPage;
        }
        const expected = acknowledged.get(hardwareId);
        if (ids.length !== expected || new Set(ids).size !== expected)
          wrong.push(`device ${hardwareId}: ${ids.length} stored, ${expected} acknowledged`);
      }
      return wrong;
    },
  };
}

/**
 * What a service without a gateway would do: put the marker if it is absent and the reading, in one transaction, with a
 * default SDK client.
 */
function rawTransactions({ store, tableName }) {
  const base = new DynamoDBClient(store);
  const client = DynamoDBDocumentClient.from(base);
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
      let stored = 0;
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
        stored += Count;
        start = LastEvaluatedKey;
        more = start !== undefined;
      }
      return stored === acknowledged.get(mac) ? [] : [`raw: ${stored} stored, ${acknowledged.get(mac)} acknowledged`];
    },
    close: () => base.destroy(),
  };
}
