import { randomUUID } from 'node:crypto';
import { print } from 'graphql';
import WebSocket from 'ws';
import { adminKey, type FullReading, type PublicError } from '../support/app.js';
import { ingest, newMac, register, times, useDevices } from '../support/devices.js';
import * as op from '../support/operations.js';
import { until } from '../support/until.js';

const fleet = useDevices();
const { batchesOf, find, newDevice, newSite, reading } = fleet;

const opened = new Set<() => void>();
afterEach(() => {
  for (const close of opened) close();
  opened.clear();
});

interface Following {
  readonly readings: op.ReadingFieldsFragment[];
  readonly codes: string[];
  readonly ended: () => boolean;
}

interface Payload {
  readonly data?: op.ReadingsSubscription | null;
  readonly errors?: readonly PublicError[];
}

type Follow = (
  url: string,
  credentials: Record<string, string>,
  variables: op.ReadingsSubscriptionVariables,
) => Promise<Following>;

const query = print(op.ReadingsDocument);

function collector() {
  const [readings, codes]: [op.ReadingFieldsFragment[], string[]] = [[], []];
  const take = ({ data, errors }: Payload): void => {
    if (data) readings.push(data.readings);
    for (const { extensions } of errors ?? []) codes.push(extensions.code);
  };
  return { readings, codes, take };
}

const overWebSocket: Follow = async (url, credentials, variables) => {
  const { readings, codes, take } = collector();
  let [ended, acknowledged] = [false, false];
  const socket = new WebSocket(url, 'graphql-transport-ws');
  opened.add(() => socket.terminate());
  socket.on('error', () => {});
  socket.on('open', () => socket.send(JSON.stringify({ type: 'connection_init', payload: credentials })));
  socket.on('message', (text) => {
    const { type, payload } = JSON.parse(String(text)) as { type: string; payload?: unknown };
    if (type === 'connection_ack') acknowledged = true;
    if (type === 'next') take(payload as Payload);
    if (type === 'error') take({ errors: payload as PublicError[] });
    if (type === 'error' || type === 'complete') ended = true;
  });
  socket.on('close', () => {
    ended = true;
  });
  await until('the connection is acknowledged', () => acknowledged);
  socket.send(JSON.stringify({ type: 'subscribe', id: '1', payload: { query, variables } }));
  return { readings, codes, ended: () => ended };
};

const overEvents: Follow = async (url, credentials, variables) => {
  const { readings, codes, take } = collector();
  let ended = false;
  const controller = new AbortController();
  opened.add(() => controller.abort());
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'text/event-stream', ...credentials },
    body: JSON.stringify({ query, variables }),
    signal: controller.signal,
  });
  if (!response.headers.get('content-type')?.startsWith('text/event-stream')) {
    take((await response.json()) as Payload);
    return { readings, codes, ended: () => true };
  }
  const read = async () => {
    let text = '';
    for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      const blocks = (text + chunk).split('\n\n');
      text = blocks.pop() ?? '';
      for (const block of blocks) {
        const [, data] = /^event: next\ndata: (.*)$/m.exec(block) ?? [];
        if (data) take(JSON.parse(data) as Payload);
        if (block.startsWith('event: complete')) ended = true;
      }
    }
  };
  void read()
    .catch(() => undefined)
    .finally(() => {
      ended = true;
    });
  return { readings, codes, ended: () => ended };
};

describe.each([
  ['WebSocket', overWebSocket],
  ['SSE', overEvents],
] as const)('the readings subscription over %s', (_name, follow) => {
  it('pushes readings of any gateway in order of measurement, and no late ones or ones of another device', async () => {
    const { mac, elsewhere, orgId, accessToken, device } = await newDevice();
    const sibling = newMac();
    await register(device, sibling);
    let atMs = fleet.app.clock.nowMs() - 3_600_000;
    const next = () => reading(mac, { timestampMs: ++atMs });
    const past = next();
    await ingest(device, past);
    const following = await follow(fleet.app.url, { authorization: `Bearer ${accessToken}` }, { hardwareId: mac });
    const byAdmin = await follow(fleet.other.url, { 'x-admin-key': adminKey }, { orgId, hardwareId: mac });
    const sent: string[] = [];
    const send = async (...readings: FullReading[]) => {
      await ingest(elsewhere, ...readings);
      sent.push(...readings.map(({ batchId }) => batchId));
    };
    await until('a reading arrives at both', async () => {
      await send(next());
      return following.readings.length > 0 && byAdmin.readings.length > 0;
    });
    const [late, last] = [reading(mac, { timestampMs: atMs - 1_000_000 }), [next(), next(), next()]];
    await ingest(elsewhere, late, reading(sibling));
    await send(...last);
    for (const each of [following, byAdmin]) {
      await until('the last reading arrives', () => each.readings.some(({ batchId }) => batchId === last[2]?.batchId));
      const got = each.readings.map(({ batchId }) => batchId);
      expect(got).toEqual(sent.slice(-got.length));
      expect([each.codes, each.ended()]).toEqual([[], false]);
    }
    expect(following.readings.at(-1)).toEqual((await find({ orgId }, mac))?.latestReading);
    expect(await batchesOf({ orgId, mac })).toContain(late.batchId);
  });

  it('pushes many readings that arrive together, each once', async () => {
    const { mac, device, accessToken } = await newDevice();
    const t = fleet.app.clock.nowMs() - 3_600_000;
    const following = await follow(fleet.app.url, { authorization: `Bearer ${accessToken}` }, { hardwareId: mac });
    let probes = 0;
    await until('a reading arrives', async () => {
      await ingest(device, reading(mac, { timestampMs: t + probes++ }));
      return following.readings.length > 0;
    });
    const all = times(250, (i) => reading(mac, { timestampMs: t + 100_000 + i }));
    for (const i of [0, 1, 2]) await ingest(device, ...all.slice(100 * i, 100 * (i + 1)));
    await until('the last reading arrives', () => following.readings.at(-1)?.batchId === all.at(-1)?.batchId);
    expect(following.readings.slice(-250).map(({ batchId }) => batchId)).toEqual(all.map(({ batchId }) => batchId));
  });

  it('refuses an unknown device, a device of another org, and invalid arguments', async () => {
    const [mine, theirs] = [await newDevice(), await newDevice({}, await newSite())];
    const credentials = { authorization: `Bearer ${mine.accessToken}` };
    const codesOf = async (by: Record<string, string>, variables: op.ReadingsSubscriptionVariables) => {
      const { codes } = await follow(fleet.app.url, by, variables);
      await until('an error arrives', () => codes.length > 0);
      return codes;
    };
    expect(await codesOf(credentials, { hardwareId: newMac() })).toEqual(['NOT_FOUND']);
    expect(await codesOf(credentials, { hardwareId: theirs.mac })).toEqual(['NOT_FOUND']);
    expect(await codesOf(credentials, { orgId: theirs.orgId, hardwareId: theirs.mac })).toEqual(['NOT_FOUND']);
    expect(await codesOf(credentials, { hardwareId: 'x' })).toEqual(['BAD_USER_INPUT']);
    expect(await codesOf({ 'x-admin-key': adminKey }, { hardwareId: mine.mac })).toEqual(['BAD_USER_INPUT']);
    expect(await codesOf({ 'x-admin-key': adminKey }, { orgId: randomUUID(), hardwareId: mine.mac })).toEqual([
      'NOT_FOUND',
    ]);
  });
});
