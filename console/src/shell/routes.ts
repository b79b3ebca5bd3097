import type { ComponentType } from 'preact';
import type { Session } from '../data/session.js';
import type { IconName } from '../ui/icon.js';

export type PageModule = { readonly default: ComponentType<Record<string, never>> };

/** The group of a page in the navigation. */
export type NavGroup = 'Spend' | 'Limits' | 'Devices' | 'Org' | 'Platform';

export interface PageRoute {
  /** The path below `/o/{orgId}`, or below the base for pages of the platform. */
  readonly path: string;
  readonly load: () => Promise<PageModule>;
  /** Without a title the page is reached from another page, not from the navigation. */
  readonly nav?: { readonly title: string; readonly icon: IconName; readonly group: NavGroup };
  /** The sessions that may open it. Default: org clients and the admin. */
  readonly kinds?: readonly Session['kind'][];
  readonly isPlatform?: boolean;
}

const all: readonly Session['kind'][] = ['PLATFORM_ADMIN', 'ORG_CLIENT', 'APP_CLIENT'];
const orgKinds: readonly Session['kind'][] = ['PLATFORM_ADMIN', 'ORG_CLIENT'];

export const routes: readonly PageRoute[] = [
  {
    path: '/overview',
    load: () => import('../pages/overview/overview.js'),
    nav: { title: 'Overview', icon: 'overview', group: 'Spend' },
  },
  {
    path: '/spend',
    load: () => import('../pages/spend/spend.js'),
    nav: { title: 'Spend', icon: 'spend', group: 'Spend' },
  },
  {
    path: '/calls',
    load: () => import('../pages/calls/calls.js'),
    nav: { title: 'Calls', icon: 'calls', group: 'Spend' },
  },
  {
    path: '/budgets',
    load: () => import('../pages/budgets/budgets.js'),
    nav: { title: 'Budgets', icon: 'budgets', group: 'Spend' },
  },
  {
    path: '/apps',
    load: () => import('../pages/apps/apps.js'),
    nav: { title: 'Apps', icon: 'apps', group: 'Spend' },
  },
  {
    path: '/models',
    load: () => import('../pages/models/models.js'),
    nav: { title: 'Models and prices', icon: 'models', group: 'Spend' },
    kinds: all,
    isPlatform: true,
  },
  {
    path: '/limits',
    load: () => import('../pages/limits/limits.js'),
    nav: { title: 'Limits', icon: 'limits', group: 'Limits' },
  },
  {
    path: '/devices',
    load: () => import('../pages/devices/devices.js'),
    nav: { title: 'Devices', icon: 'devices', group: 'Devices' },
  },
  {
    path: '/alerts',
    load: () => import('../pages/alerts/alerts.js'),
    nav: { title: 'Alerts', icon: 'alerts', group: 'Org' },
    kinds: all,
  },
  {
    path: '/keys',
    load: () => import('../pages/keys/keys.js'),
    nav: { title: 'Keys', icon: 'keys', group: 'Org' },
  },
  {
    path: '/audit',
    load: () => import('../pages/audit/audit.js'),
    nav: { title: 'Audit', icon: 'audit', group: 'Org' },
  },
  {
    path: '/settings',
    load: () => import('../pages/settings/settings.js'),
    nav: { title: 'Settings', icon: 'settings', group: 'Org' },
  },
  {
    path: '/orgs',
    load: () => import('../pages/orgs/orgs.js'),
    nav: { title: 'Orgs', icon: 'orgs', group: 'Platform' },
    kinds: ['PLATFORM_ADMIN'],
    isPlatform: true,
  },
  {
    path: '/platform-audit',
    load: () => import('../pages/audit/platform-audit.js'),
    nav: { title: 'Platform audit', icon: 'audit', group: 'Platform' },
    kinds: ['PLATFORM_ADMIN'],
    isPlatform: true,
  },
  { path: '/devices/:hardwareId', load: () => import('../pages/devices/device.js') },
  { path: '/limits/entities/:entityId', load: () => import('../pages/limits/entity.js') },
  { path: '/apps/:appId', load: () => import('../pages/apps/app.js'), kinds: all },
];

export const mayOpen = ({ kinds = orgKinds }: PageRoute, session: Session): boolean => kinds.includes(session.kind);

/** The path of a page of an org, for links. */
export const orgPath = (orgId: string, path: string): string => `/o/${orgId}${path}`;

/** The page of an entity of the limiter, whose id may have characters that an address must not have. */
export const entityPath = (orgId: string, entityId: string): string =>
  orgPath(orgId, `/limits/entities/${encodeURIComponent(entityId)}`);

/** The page that a session begins with. */
export function homeOf(session: Session): string {
  if (session.kind === 'PLATFORM_ADMIN') return session.org ? orgPath(session.org.orgId, '/overview') : '/orgs';
  const { orgId } = session.org ?? { orgId: '' };
  return session.app ? orgPath(orgId, `/apps/${session.app.appId}`) : orgPath(orgId, '/overview');
}
