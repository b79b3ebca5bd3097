import DataLoader from 'dataloader';
import type { Services } from '../app.js';
import type { Viewer } from '../identity/viewer.js';
import { maySeeApp, maySeeOrg } from '../identity/viewer.js';
import { type App, inForce, type Org } from '../orgs/settings.js';

/** What a resolver gets: who is calling, this request's loaders, and the services. */
export interface Context extends Services {
  readonly viewer: Viewer;
  readonly requestId: string;
  /** Where the call came from, for throttling logins. */
  readonly address: string;
  readonly loaders: Loaders;
}

export interface Loaders {
  /** Only what the viewer may see: anything else is not there. */
  readonly org: DataLoader<string, Org | undefined>;
  readonly app: DataLoader<{ readonly orgId: string; readonly appId: string }, App | undefined, string>;
}

export function createContext(services: Services, request: Pick<Context, 'viewer' | 'requestId' | 'address'>): Context {
  return { ...services, ...request, loaders: createLoaders(services, request.viewer) };
}

function createLoaders({ orgs }: Services, viewer: Viewer): Loaders {
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
  return { org, app };
}

const appKey = ({ orgId, appId }: { readonly orgId: string; readonly appId: string }): string => `${orgId} ${appId}`;
