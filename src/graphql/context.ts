import DataLoader from 'dataloader';
import type { Services } from '../app.js';
import type { Viewer } from '../identity/viewer.js';
import { maySeeApp, maySeeOrg } from '../identity/viewer.js';
import { type App, inForce, type Org } from '../orgs/settings.js';
import type { SpendReader } from '../spend/report.js';
import type { SpendId } from '../spend/scope.js';
import type { Sticky } from '../spend/selection.js';
import type { Total } from '../spend/spend.store.js';
import type { StickyId } from '../spend/sticky.store.js';

/** What a resolver gets: who is calling, this request's loaders, and the services. */
export interface Context extends Services {
  readonly viewer: Viewer;
  readonly requestId: string;
  /** Where the call came from, for throttling logins. */
  readonly address: string;
  readonly loaders: Loaders;
  /** This request's reads of spend, batched. */
  readonly reader: SpendReader;
  /** The same without what the request has read before: for what it has just changed. */
  freshReader(): SpendReader;
}

export interface Loaders {
  readonly total: DataLoader<SpendId, Total | undefined, string>;
  readonly sticky: DataLoader<StickyId, Sticky | undefined, string>;
  /** Only what the viewer may see: anything else is not there. */
  readonly org: DataLoader<string, Org | undefined>;
  readonly app: DataLoader<{ readonly orgId: string; readonly appId: string }, App | undefined, string>;
}

export function createContext(services: Services, request: Pick<Context, 'viewer' | 'requestId' | 'address'>): Context {
  const loaders = createLoaders(services, request.viewer);
  return { ...services, ...request, loaders, reader: readerOf(loaders), freshReader: () => readerOf(createLoaders(services, request.viewer)) };
}

const readerOf = ({ total, sticky }: Loaders): SpendReader => ({ total: (id) => total.load(id), sticky: (id) => sticky.load(id) });

function createLoaders({ orgs, spendStore, stickyStore }: Services, viewer: Viewer): Loaders {
  const org = new DataLoader<string, Org | undefined>(async (orgIds) => {
    const visible = orgIds.filter((orgId) => maySeeOrg(viewer, orgId));
    const found = new Map((await orgs.recallOrgs(visible)).map((loaded) => [loaded?.orgId, loaded]));
    return orgIds.map((orgId) => found.get(orgId));
  });
  const app = new DataLoader<{ readonly orgId: string; readonly appId: string }, App | undefined, string>(
    async (refs) => {
      const visible = refs.filter(({ orgId, appId }) => maySeeApp(viewer, orgId, appId));
      const [records, owners] = await Promise.all([orgs.recallApps(visible), org.loadMany(visible.map(({ orgId }) => orgId))]);
      const found = new Map(
        visible.map((ref, i) => {
          const [record, owner] = [records[i], owners[i]];
          if (owner instanceof Error) throw owner;
          return [appKey(ref), record && owner && inForce(owner, record)] as const;
        }),
      );
      return refs.map((ref) => found.get(appKey(ref)));
    },
    { cacheKeyFn: appKey },
  );
  const total = new DataLoader<SpendId, Total | undefined, string>((ids) => spendStore.loadTotals(ids), {
    cacheKeyFn: ({ orgId, appId, label, day }) => [orgId, appId, label, day].join(' '),
  });
  const sticky = new DataLoader<StickyId, Sticky | undefined, string>((ids) => stickyStore.loadMany(ids), {
    cacheKeyFn: ({ orgId, appId, day }) => [orgId, appId, day].join(' '),
  });
  return { org, app, total, sticky };
}

const appKey = ({ orgId, appId }: { readonly orgId: string; readonly appId: string }): string => `${orgId} ${appId}`;
