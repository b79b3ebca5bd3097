import type { CliCommand, CliParam } from '../api/command.js';

const deviceFields = `hardwareId friendlyName firmwareVersion firstRegisteredAt lastSeenAt ownerKeyId
  capabilities { sensors } latestReading { timestampMs sensors { bme280TempC ds18b20TempC humidityPct pressureHpa
  soilMoisturePct } }`;
const deviceColumns = ['hardwareId', 'friendlyName', 'firmwareVersion', { path: 'lastSeenAt', show: 'time' }] as const;
const readingFields = `hardwareId batchId timestampMs firmwareVersion
  sensors { bme280TempC ds18b20TempC humidityPct pressureHpa soilMoisturePct }`;
const readingColumns = [
  'timestampMs',
  'hardwareId',
  { path: 'sensors.bme280TempC' },
  { path: 'sensors.ds18b20TempC' },
  { path: 'sensors.humidityPct' },
  { path: 'sensors.pressureHpa' },
  { path: 'sensors.soilMoisturePct' },
] as const;
const device: CliParam = { flags: '<mac>', text: 'the hardware id of the device', to: 'hardwareId' };
const from: CliParam = { flags: '--from <time>', text: 'the start, in ISO 8601', to: 'from' };
const to: CliParam = { flags: '--to <time>', text: 'the end, in ISO 8601', to: 'to' };
const alertFields = `kind orgId appId label activeLabel day costUsdMicros quotaUsdMicros quotaPct thresholdPct budget
  raisedAt cursor`;
const alertColumns = [
  { path: 'raisedAt', show: 'time' },
  'kind',
  'appId',
  'label',
  'budget',
  { path: 'costUsdMicros', title: 'cost', show: 'usd' },
  { path: 'quotaUsdMicros', title: 'quota', show: 'usd' },
  'quotaPct',
] as const;

const fleet: readonly CliCommand[] = [
  {
    name: 'device list',
    text: 'List the devices of an org.',
    document: `query ($orgId: UUID, $orderBy: DeviceOrder, $first: Int, $after: String) { org(orgId: $orgId) {
      devices(orderBy: $orderBy, first: $first, after: $after) {
        nodes { ${deviceFields} } pageInfo { hasNextPage endCursor } } } }`,
    org: 'orgId',
    params: [
      {
        flags: '--order <last-seen|hardware-id>',
        text: 'the order',
        to: 'orderBy',
        as: 'upper',
        choices: ['last-seen', 'hardware-id'],
        fallback: 'hardware-id',
      },
    ],
    rows: 'org.devices.nodes',
    connection: 'org.devices',
    columns: deviceColumns,
  },
  {
    name: 'device get',
    text: 'Show a device with its latest reading.',
    document: `query ($orgId: UUID, $hardwareId: String!) { org(orgId: $orgId) {
      device(hardwareId: $hardwareId) { ${deviceFields} } } }`,
    org: 'orgId',
    params: [device],
    rows: 'org.device',
    columns: deviceColumns,
  },
  {
    name: 'device readings',
    text: 'List the readings of a device.',
    document: `query ($orgId: UUID, $hardwareId: String!, $from: DateTime, $to: DateTime, $first: Int, $after: String) {
      org(orgId: $orgId) { device(hardwareId: $hardwareId) { readings(from: $from, to: $to, first: $first,
        after: $after) { nodes { ${readingFields} } pageInfo { hasNextPage endCursor } } } } }`,
    org: 'orgId',
    params: [device, from, to],
    rows: 'org.device.readings.nodes',
    connection: 'org.device.readings',
    columns: readingColumns,
    id: 'batchId',
  },
  {
    name: 'device series',
    text: 'Show the minimum, maximum and mean of a metric by step.',
    document: `query ($orgId: UUID, $hardwareId: String!, $metric: SensorMetric!, $from: DateTime!, $to: DateTime!,
      $stepSecs: Int!) { org(orgId: $orgId) { device(hardwareId: $hardwareId) {
        series(metric: $metric, from: $from, to: $to, stepSecs: $stepSecs) { at count min max mean } } } }`,
    org: 'orgId',
    params: [
      device,
      {
        flags: '--metric <metric>',
        text: 'for example humidity-pct',
        to: 'metric',
        as: 'upper',
        required: true,
        choices: ['bme280-temp-c', 'ds18b20-temp-c', 'humidity-pct', 'pressure-hpa', 'soil-moisture-pct'],
      },
      { ...from, required: true },
      { ...to, required: true },
      { flags: '--step <secs>', text: 'the length of a step', to: 'stepSecs', as: 'int', fallback: '3600' },
    ],
    rows: 'org.device.series',
    columns: [{ path: 'at', show: 'time' }, 'count', 'min', 'max', 'mean'],
  },
  {
    name: 'device rename',
    text: 'Change the name of a device.',
    document: `mutation ($orgId: UUID, $hardwareId: String!, $friendlyName: String) {
      renameDevice(orgId: $orgId, hardwareId: $hardwareId, friendlyName: $friendlyName) { ${deviceFields} } }`,
    org: 'orgId',
    params: [device, { flags: '<name>', text: 'the new name; "": none', to: 'friendlyName', as: 'clearable' }],
    rows: 'renameDevice',
    columns: deviceColumns,
  },
  {
    name: 'device assign',
    text: 'Give a device to the line of another API key, or to none.',
    document: `mutation ($orgId: UUID, $hardwareId: String!, $keyId: UUID) {
      assignDevice(orgId: $orgId, hardwareId: $hardwareId, keyId: $keyId) { ${deviceFields} } }`,
    org: 'orgId',
    params: [device, { flags: '[keyId]', text: 'the key; absent: none', to: 'keyId' }],
    rows: 'assignDevice',
    columns: deviceColumns,
  },
  {
    name: 'device delete',
    text: 'Delete a device with its readings.',
    document: `mutation ($orgId: UUID, $hardwareId: String!) { deleteDevice(orgId: $orgId, hardwareId: $hardwareId) }`,
    org: 'orgId',
    params: [device],
    rows: 'deleteDevice',
    columns: [],
    confirm: 'Delete the device with all its readings?',
    done: 'Deleted the device.',
  },
  {
    name: 'device tail',
    text: 'Print the readings of a device as they arrive, until Ctrl+C.',
    document: `subscription ($orgId: UUID, $hardwareId: String!) {
      readings(orgId: $orgId, hardwareId: $hardwareId) { ${readingFields} } }`,
    org: 'orgId',
    params: [device],
    rows: 'readings',
    columns: readingColumns,
    id: 'batchId',
    follow: {},
  },
];

const alerts: readonly CliCommand[] = [
  {
    name: 'alert list',
    text: 'List the alerts of an org, newest first.',
    document: `query ($orgId: UUID, $first: Int, $after: String) { org(orgId: $orgId) {
      alerts(first: $first, after: $after) { nodes { ${alertFields} } pageInfo { hasNextPage endCursor } } } }`,
    org: 'orgId',
    rows: 'org.alerts.nodes',
    connection: 'org.alerts',
    columns: alertColumns,
    id: 'cursor',
  },
  {
    name: 'alert tail',
    text: 'Print alerts as they are raised, until Ctrl+C. Resumes after a disconnect.',
    document: `subscription ($orgId: UUID, $appId: String, $kinds: [QuotaAlertKind!], $after: String) {
      quotaAlerts(orgId: $orgId, appId: $appId, kinds: $kinds, after: $after) { ${alertFields} } }`,
    org: 'orgId',
    params: [
      { flags: '--app <appId>', text: 'only this app', to: 'appId' },
      { flags: '--kinds <kinds>', text: 'only these kinds, comma-separated', to: 'kinds', as: 'list' },
      { flags: '--after <cursor>', text: 'resume after this alert', to: 'after' },
    ],
    rows: 'quotaAlerts',
    columns: alertColumns,
    id: 'cursor',
    follow: { cursor: 'cursor' },
  },
];

export const deviceCommands: readonly CliCommand[] = [...fleet, ...alerts];
