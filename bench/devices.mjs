// ingest against the same work by raw transactions of two puts of one SDK client.
import { createHash, randomUUID } from 'node:crypto';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, QueryCommand, TransactWriteCommand } from '@aws-sdk/lib-dynamodb';
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
  await raw.prepare();
  const writing = await measure(
    stage,
    [
      { operation: 'two puts in a transaction', by: 'raw SDK', isOwnProcess: true, send: () => raw.send() },
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
    { seconds, countAt: [barLevel] },
  );
  const reading = await measure(
    stage,
    [
      { operation: `query of ${page} readings`, by: 'raw SDK', isOwnProcess: true, send: raw.page },
      { operation: `readings, ${page} of a device`, by: 'Tollgate', send: gateway.page },
    ],
    { seconds: seconds / 2 },
  );
  const wrong = [...(await gateway.wrong()), ...(await raw.wrong())];
  raw.close();
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
  for (const hardwareId of macs) {
    const input = {
      hardwareId,
      bootId,
      firmwareVersion: '1.4.2',
      friendlyName: 'Bench',
      capabilities: { sensors: ['bme280', 'ds18b20'], features: [] },
    };
    await client.request(headers, registerDevice, { input });
  }
  const acknowledged = new Map(macs.map((mac) => [mac, 0]));
  let [next, call] = [0, 0];
  const newReading = (hardwareId, timestampMs = Date.now()) => ({
    hardwareId,
    batchId: `${bootId}:${next++}`,
    timestampMs,
    bootId,
    firmwareVersion: '1.4.2',
    sensors: newSensors(),
    sensorStatus: { bme280: 'OK', ds18b20: 'OK', soilMoisture: 'OK' },
  });
  // A device that measures every minute and sends every hour.
  const [reader, hourMs] = [macs.pop(), 3_600_000];
  const startMs = Math.floor(Date.now() / hourMs) * hourMs - 4 * hourMs;
  for (let hour = 0; hour < 4; hour++) {
    const readings = Array.from({ length: 60 }, (_, i) => newReading(reader, startMs + hour * hourMs + i * 60_000));
    await client.request(headers, ingestReadings, { input: { readings } });
  }
  return {
    acknowledged,
    async page() {
      const { nodes } = (await client.request(asAdmin, pageOf, { orgId, hardwareId: reader })).org.device.readings;
      if (nodes.length !== page) throw new Error(`${nodes.length} readings instead of ${page}`);
    },
    /** The readings of a call are of one device, which sends what it has buffered. */
    async ingest(count) {
      const mac = macs[call++ % macs.length];
      const readings = Array.from({ length: count }, () => newReading(mac));
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
      for (let i = 0; i < macs.length; i += deviceCount / checkedDevices) {
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
  const query = (mac) => ({
    TableName: readings,
    KeyConditionExpression: 'hardware_id = :device',
    ExpressionAttributeValues: { ':device': `${orgId}/${mac}` },
  });
  const reader = macOf(deviceCount);
  return {
    /** Reads items that were stored one by one. */
    async page() {
      const { Items } = await client.send(new QueryCommand({ ...query(reader), ScanIndexForward: false, Limit: page }));
      if (Items.length !== page) throw new Error(`${Items.length} readings instead of ${page}`);
    },
    async prepare() {
      for (let i = 0; i < page; i++) await this.send(reader);
    },
    async send(mac = macOf(next % deviceCount)) {
      next++;
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
            ...query(mac),
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
