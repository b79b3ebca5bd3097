import { randomUUID } from 'node:crypto';
import { print } from 'graphql';
import WebSocket from 'ws';
import { feedPartitions } from '../../src/devices/feed-position.js';
import { ulid } from '../../src/lib/id.js';
import { sleep } from '../../src/lib/timers.js';
import { adminKey, type FullReading, type PublicError } from '../support/app.js';
import { dayMs, ingest, minuteMs, newMac, register, times, useDevices } from '../support/devices.js';
import * as op from '../support/operations.js';
import { until } from '../support/until.js';

const fleet = useDevices();
const { batchesOf, find, newDevice, newSite, reading } = fleet;

const opened = new Set<() => void>();
afterEach(() => {
  for (const close of opened) close();
  opened.clear();
});

type Pushed = op.ReadingsSubscription['readings'];

interface Following {
  readonly readings: Pushed[];
  readonly codes: string[];
  readonly ended: () => boolean;
  /** Breaks the connection. */
  readonly cut: () => void;
  /** The id of the last event (only over SSE). */
  readonly lastId: () => string | undefined;
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
  const [readings, codes]: [Pushed[], string[]] = [[], []];
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
  return { readings, codes, ended: () => ended, cut: () => socket.terminate(), lastId: () => undefined };
};

const overEvents: Follow = async (url, credentials, variables) => {
  const { readings, codes, take } = collector();
  let ended = false;
  let lastId: string | undefined;
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
    return { readings, codes, ended: () => true, cut: () => {}, lastId: () => undefined };
  }
  const read = async () => {
    let text = '';
    for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      const blocks = (text + chunk).split('\n\n');
      text = blocks.pop() ?? '';
      for (const block of blocks) {
        const [, data] = /^event: next\ndata: (.*)$/m.exec(block) ?? [];
        if (data) take(JSON.parse(data) as Payload);
        lastId = /^id: (.*)$/m.exec(block)?.[1] ?? lastId;
        if (block.startsWith('event: complete')) ended = true;
      }
    }
  };
  void read()
    .catch(() => undefined)
    .finally(() => {
      ended = true;
    });
  return { readings, codes, ended: () => ended, cut: () => controller.abort(), lastId: () => lastId };
};

/** Sends a few readings until the first one arrives, because a subscription takes a moment to begin. */
async function begun(following: Following, send: () => Promise<unknown>): Promise<void> {
  await until('a first reading arrives', async () => {
    await send();
    for (let i = 0; i < 20 && following.readings.length === 0; i++) await sleep(50);
    return following.readings.length > 0;
  });
}

describe.each([
  ['WebSocket', overWebSocket],
  ['SSE', overEvents],
] as const)('the readings subscription over %s', (_name, follow) => {
  it('pushes readings of any gateway in order of arrival, also late ones, and none of another device', async () => {
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
    await send(late);
    await ingest(elsewhere, reading(sibling));
    await send(...last);
    for (const each of [following, byAdmin]) {
      await until('the last reading arrives', () => each.readings.some(({ batchId }) => batchId === last[2]?.batchId));
      const got = each.readings.map(({ batchId }) => batchId);
      expect(got).toEqual(sent.slice(-got.length));
      expect([each.codes, each.ended()]).toEqual([[], false]);
    }
    const { cursor, gap, ...pushed } = following.readings.at(-1) ?? {};
    expect([cursor, gap]).toEqual([expect.any(String), false]);
    expect(pushed).toEqual((await find({ orgId }, mac))?.latestReading);
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

  it.each([
    [1, 8],
    [8, 64],
  ])(
    'resumes after a disconnect on another gateway, without loss or repeats (%i feed partitions)',
    async (partitions, shardCount) => {
      expect(feedPartitions(shardCount)).toBe(partitions);
      const { mac, device, accessToken } = await newDevice({}, await newSite({ shardCount }));
      const credentials = { authorization: `Bearer ${accessToken}` };
      // Arrives before the subscription, so it is not delivered after the resumption either.
      await ingest(device, reading(mac));
      const first = await follow(fleet.app.url, credentials, { hardwareId: mac });
      const sent: string[] = [];
      const send = async (count: number) => {
        const readings = times(count, (i) =>
          reading(mac, { timestampMs: fleet.app.clock.nowMs() - 1000 * (count - i) }),
        );
        await ingest(device, ...readings);
        sent.push(...readings.map(({ batchId }) => batchId));
      };
      await begun(first, () => send(1));
      await send(3);
      await until('the last reading arrives', () => first.readings.at(-1)?.batchId === sent.at(-1));
      first.cut();
      // Stored while nobody listens.
      await send(2);
      await send(1);
      // In the middle of the segment of three.
      const seen = first.readings.slice(0, -2);
      const [cursor, got] = [seen.at(-1)?.cursor as string, seen.map(({ batchId }) => batchId)];
      const second = await follow(fleet.other.url, credentials, { hardwareId: mac, after: cursor });
      await send(1);
      await until('the last reading arrives', () => second.readings.at(-1)?.batchId === sent.at(-1));
      expect([...got, ...second.readings.map(({ batchId }) => batchId)]).toEqual(
        sent.slice(sent.indexOf(got[0] ?? '')),
      );
    },
  );

  it('follows all devices of an org, and resumes there as well', async () => {
    const [one, stranger] = [await newDevice({}, await newSite()), await newDevice({}, await newSite())];
    const other = await newDevice({}, one);
    const credentials = { authorization: `Bearer ${one.accessToken}` };
    const following = await follow(fleet.app.url, credentials, {});
    await begun(following, async () => {
      await ingest(one.device, reading(one.mac), reading(other.mac));
      await ingest(stranger.device, reading(stranger.mac));
    });
    const last = reading(other.mac);
    await ingest(one.device, last);
    await until('the last reading arrives', () => following.readings.at(-1)?.batchId === last.batchId);
    expect(new Set(following.readings.map(({ hardwareId }) => hardwareId))).toEqual(new Set([one.mac, other.mac]));
    following.cut();
    const missed = [reading(other.mac), reading(one.mac)];
    for (const each of missed) await ingest(one.device, each);
    const resumed = await follow(fleet.other.url, credentials, { after: following.readings.at(-1)?.cursor });
    await until('the missed readings arrive', () => resumed.readings.length > 1);
    expect(resumed.readings.map(({ batchId }) => batchId)).toEqual(missed.map(({ batchId }) => batchId));
    const foreign = await follow(
      fleet.app.url,
      { authorization: `Bearer ${stranger.accessToken}` },
      {
        after: following.readings.at(-1)?.cursor,
      },
    );
    await until('an error arrives', () => foreign.codes.length > 0);
    expect(foreign.codes).toEqual(['BAD_USER_INPUT']);
  });

  it('does not stop at a reading ahead of the clock', async () => {
    const { mac, device, accessToken } = await newDevice();
    const following = await follow(fleet.app.url, { authorization: `Bearer ${accessToken}` }, { hardwareId: mac });
    await until('a reading arrives', async () => {
      await ingest(device, reading(mac, { timestampMs: fleet.app.clock.nowMs() + 9 * minuteMs }));
      return following.readings.length > 0;
    });
    const next = [reading(mac), reading(mac, { timestampMs: fleet.app.clock.nowMs() })];
    for (const each of next) await ingest(device, each);
    await until('the next readings arrive', () => following.readings.at(-1)?.batchId === next[1]?.batchId);
    expect(following.readings.slice(-2).map(({ batchId }) => batchId)).toEqual(next.map(({ batchId }) => batchId));
  });

  it('begins with a gap after a cursor that is older than 24 h', async () => {
    const { mac, device, orgId } = await newDevice({}, await newSite());
    const admin = { 'x-admin-key': adminKey };
    const cursor = (atMs: number) =>
      fleet.app.gateway.services.cursors.seal(`${orgId} readings`, `${ulid(atMs)} 0 ${atMs}`);
    const sent = reading(mac);
    await ingest(device, sent);
    for (const [ageMs, gaps] of [
      [dayMs - minuteMs, [false]],
      [dayMs + 1000, [true, false]],
    ] as const) {
      const after = cursor(fleet.app.clock.nowMs() - ageMs);
      const following = await follow(fleet.other.url, admin, { orgId, hardwareId: mac, after });
      await until('the reading arrives', () => following.readings.some(({ batchId }) => batchId === sent.batchId));
      expect(following.readings.slice(0, gaps.length).map(({ gap }) => gap)).toEqual(gaps);
      if (gaps[0]) expect(following.readings[0]).toMatchObject({ hardwareId: '', batchId: '', timestampMs: 0 });
      const again = await follow(fleet.app.url, admin, { orgId, after: following.readings[0]?.cursor });
      const next = reading(mac);
      await ingest(device, next);
      await until('the next reading arrives', () => again.readings.at(-1)?.batchId === next.batchId);
      expect(again.readings.map(({ gap }) => gap)).not.toContain(true);
    }
  });

  it('pushes no reading of a deleted device, even before the worker has purged it', async () => {
    const { mac, device, orgId, org } = await newDevice({}, await newSite());
    const kept = await newDevice({}, { orgId, org, device, elsewhere: device, accessToken: '' });
    const after = fleet.app.gateway.services.cursors.seal(`${orgId} readings`, `- -1 ${fleet.app.clock.nowMs()}`);
    const [gone, sent] = [reading(mac), reading(kept.mac)];
    await ingest(device, gone);
    await ingest(device, sent);
    await org.ask(op.DeleteDeviceDocument, { hardwareId: mac });
    const following = await follow(fleet.app.url, { 'x-admin-key': adminKey }, { orgId, after });
    await until('a reading arrives', () => following.readings.length > 0);
    expect(following.readings.map(({ batchId }) => batchId)).toEqual([sent.batchId]);
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

it('resumes by Last-Event-ID', async () => {
  const { mac, device, accessToken } = await newDevice({}, await newSite());
  const credentials = { authorization: `Bearer ${accessToken}` };
  const first = await overEvents(fleet.app.url, credentials, { hardwareId: mac });
  await begun(first, () => ingest(device, reading(mac)));
  const last = reading(mac);
  await ingest(device, last);
  await until('the last reading arrives', () => first.readings.at(-1)?.batchId === last.batchId);
  first.cut();
  const missed = reading(mac);
  await ingest(device, missed);
  // The header is newer than the argument, which the browser repeats.
  const second = await overEvents(
    fleet.other.url,
    { ...credentials, 'last-event-id': first.lastId() ?? '' },
    { hardwareId: mac, after: first.readings[0]?.cursor },
  );
  await until('the missed reading arrives', () => second.readings.length > 0);
  expect(second.readings.map(({ batchId }) => batchId)).toEqual([missed.batchId]);
});
