import type { Caller } from '../support/app.js';
import { ingest, issuesOf, minuteMs, newMac, register, times, useDevices } from '../support/devices.js';
import * as op from '../support/operations.js';

const fleet = useDevices();
const { find, move, newDevice, newSite, page, reading } = fleet;

describe('Org.devices and Org.device', () => {
  it('hide devices of other orgs, accept a MAC address in either case, and refuse an invalid one', async () => {
    const [mine, theirs] = [await newDevice(), await newDevice({}, await newSite())];
    for (const hardwareId of [theirs.mac, newMac()])
      expect((await mine.org.ask(op.DeviceOfDocument, { hardwareId })).org?.device).toBeNull();
    for (const hardwareId of ['', '../../x', `${theirs.orgId}/${theirs.mac}`]) {
      expect(await issuesOf(mine.org, op.DeviceOfDocument, { hardwareId })).toMatchObject([{ path: 'hardwareId' }]);
    }
    for (const hardwareId of [mine.mac, mine.mac.toLowerCase()])
      expect((await mine.org.ask(op.DeviceOfDocument, { hardwareId })).org?.device?.hardwareId).toBe(mine.mac);
  });

  it('list every device once, most recently seen first, over several pages', async () => {
    const site = await newSite();
    const macs = times(7, newMac);
    for (const mac of macs) {
      move(1000);
      await register(site.device, mac);
    }
    move(2 * minuteMs);
    await ingest(site.device, reading(macs[2] as string));
    const inOrder = [macs[2], ...macs.filter((_, i) => i !== 2).reverse()];
    const pages: string[][] = [];
    for (let after: string | null | undefined; ; ) {
      const { org } = await fleet.app.admin.ask(op.DevicesDocument, { orgId: site.orgId, first: 3, after });
      pages.push(org?.devices.nodes.map(({ hardwareId }) => hardwareId) ?? []);
      after = org?.devices.pageInfo.endCursor;
      if (!org?.devices.pageInfo.hasNextPage) break;
    }
    expect(pages.map(({ length }) => length)).toEqual([3, 3, 1]);
    expect(pages.flat()).toEqual(inOrder);
  });

  it('list devices that were seen in the same millisecond once each', async () => {
    const site = await newSite();
    const macs = times(12, newMac);
    await Promise.all(macs.map((mac) => register(site.device, mac)));
    const found: string[] = [];
    for (let after: string | null | undefined; ; ) {
      const { org } = await fleet.app.admin.ask(op.DevicesDocument, { orgId: site.orgId, first: 1, after });
      found.push(...(org?.devices.nodes.map(({ hardwareId }) => hardwareId) ?? []));
      after = org?.devices.pageInfo.endCursor;
      if (!org?.devices.pageInfo.hasNextPage) break;
    }
    expect(found.toSorted()).toEqual(macs.toSorted());
  });

  it('refuse a foreign or forged cursor, and a page size out of range, as Device.readings does', async () => {
    const [one, two] = [await newDevice(), await newDevice({}, await newSite())];
    const sibling = newMac();
    await register(one.device, sibling);
    for (const { device, mac } of [one, two]) await ingest(device, reading(mac), reading(mac));
    const devices = (await one.org.ask(op.DevicesDocument, { first: 1 })).org?.devices.pageInfo.endCursor as string;
    const readings = (await page({ orgId: one.orgId, hardwareId: one.mac, first: 1 }))?.pageInfo.endCursor as string;
    const edited = (cursor: string) => `${cursor.slice(0, -2)}${cursor.at(-2) === 'A' ? 'Q' : 'A'}${cursor.at(-1)}`;
    for (const after of [edited(devices), readings, 'x', '']) {
      expect(await issuesOf(one.org, op.DevicesDocument, { after })).toMatchObject([{ path: 'after' }]);
    }
    expect(await issuesOf(two.org, op.DevicesDocument, { after: devices })).toMatchObject([{ path: 'after' }]);
    for (const after of [edited(readings), devices]) {
      expect(await issuesOf(one.org, op.ReadingsOfDocument, { hardwareId: one.mac, after })).toMatchObject([
        { path: 'after' },
      ]);
    }
    expect(await issuesOf(one.org, op.ReadingsOfDocument, { hardwareId: sibling, after: readings })).toMatchObject([
      { path: 'after' },
    ]);
    expect(await issuesOf(two.org, op.ReadingsOfDocument, { hardwareId: two.mac, after: readings })).toMatchObject([
      { path: 'after' },
    ]);
    for (const first of [0, 101])
      expect(await issuesOf(one.org, op.DevicesDocument, { first })).toMatchObject([{ path: 'first' }]);
    for (const first of [0, 1001]) {
      const short =
        'query ($mac: String!, $first: Int) { ' +
        'org { device(hardwareId: $mac) { readings(first: $first) { nodes { batchId } } } } }';
      expect(await issuesOf(one.org, short, { mac: one.mac, first })).toMatchObject([{ path: 'first' }]);
    }
  });

  it('return objects that `node` finds, and only for callers of the org', async () => {
    const [one, two] = [await newDevice(), await newDevice({}, await newSite())];
    const sent = reading(one.mac, { batchId: '2024-01-01T00:00:00Z:7' });
    await ingest(one.device, sent);
    const found = await find(one, one.mac);
    const query =
      'query ($id: ID!) { node(id: $id) { ' +
      '__typename id ... on Device { hardwareId } ... on Reading { batchId timestampMs } } }';
    const node = async (by: Caller, id = '') => (await by.ask<{ node: unknown }, { id: string }>(query, { id })).node;
    const { batchId, timestampMs } = sent;
    for (const by of [one.org, fleet.app.admin]) {
      expect(await node(by, found?.id)).toEqual({ __typename: 'Device', id: found?.id, hardwareId: one.mac });
      expect(await node(by, found?.latestReading?.id)).toEqual({
        __typename: 'Reading',
        id: found?.latestReading?.id,
        batchId,
        timestampMs,
      });
    }
    for (const by of [two.org, one.device]) {
      for (const id of [found?.id, found?.latestReading?.id]) expect(await node(by, id)).toBeNull();
    }
    const idOf = (...parts: string[]) => Buffer.from(JSON.stringify(parts)).toString('base64url');
    for (const id of [
      idOf('Device', one.orgId, newMac()),
      idOf('Device', one.orgId, 'x'),
      idOf('Reading', one.orgId, one.mac, String(timestampMs), 'other'),
      idOf('Reading', one.orgId, one.mac, 'x', batchId),
      idOf('Reading', one.orgId, one.mac, String(timestampMs)),
    ]) {
      expect(await node(one.org, id)).toBeNull();
    }
  });
});
