import type { Context } from '../graphql/context.js';
import { orgIdFor } from '../identity/viewer.js';
import { badInput, notFound } from '../lib/errors.js';
import { type App, appIdIssues } from '../orgs/settings.js';

/** The input of a mutation about the calls of an app. */
interface AppInput {
  readonly orgId?: string | null;
  readonly appId?: string | null;
}

/** The app of the input or, for an app client, its own app. An app of another tenant is not found. */
export async function appFor({ viewer, loaders }: Context, input: AppInput): Promise<App> {
  const orgId = orgIdFor(viewer, input.orgId, 'input.orgId');
  if (viewer.kind === 'APP_CLIENT' && input.appId && input.appId !== viewer.appId) throw notFound('app');
  const appId = viewer.kind === 'APP_CLIENT' ? viewer.appId : input.appId;
  if (!appId) throw badInput({ path: 'input.appId', message: 'is required unless the caller is the app itself' });
  const app = appIdIssues(appId).length > 0 ? undefined : await loaders.app({ orgId, appId });
  if (!app) throw notFound('app');
  return app;
}
