import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import { Link, Redirect, Route, Switch, useLocation } from 'wouter-preact';
import { queryClient, useQuery } from '../data/client.js';
import { AppFrameDocument, FrameDocument } from '../gql/graphql.js';
import { useStore } from '../lib/store.js';
import { Icon } from '../ui/icon.js';
import { Failure, type Loadable, Loaded } from '../ui/states.js';
import { Brand } from './brand.js';
import { lastOrg, OrgContext, type OrgView, useSession } from './context.js';
import { IdleNotice } from './idle.js';
import { Lazy } from './lazy.js';
import { LiveAlertsProvider, useLiveAlerts } from './live-alerts.js';
import { OrgSwitcher } from './org-switcher.js';
import { homeOf, mayOpen, orgPath, type PageRoute, routes } from './routes.js';
import { clearToasts, Toasts } from './toasts.js';
import { UserMenu } from './user-menu.js';

const framePollMs = 60_000;

/** Forgets what a session has read when it is over, so that it is not shown to another one. */
export function forgetSession(): void {
  queryClient.clear();
  clearToasts();
  lastOrg.set(undefined);
}

/** Everything behind the sign-in: the pages of an org, or those of the platform. */
export function Shell() {
  const session = useSession();
  const org = useStore(lastOrg) ?? session.org;
  return (
    <Switch>
      <Route path="/">
        <Redirect to={homeOf(session)} replace />
      </Route>
      <Route path="/o/:orgId/*?">{({ orgId }) => <OrgFrame key={orgId} orgId={orgId} />}</Route>
      <Route>
        <Layout {...(org ? { orgId: org.orgId } : {})} name={org?.name ?? 'Platform'}>
          <Pages pages={routes.filter((route) => route.isPlatform)} />
        </Layout>
      </Route>
    </Switch>
  );
}

function OrgFrame({ orgId }: { readonly orgId: string }) {
  const isApp = useSession().kind === 'APP_CLIENT';
  const whole = useQuery(FrameDocument, { orgId }, { enabled: !isApp, pollMs: framePollMs });
  const ofApp = useQuery(AppFrameDocument, {}, { enabled: isApp, pollMs: framePollMs });
  const query: Loadable<unknown> = isApp ? ofApp : whole;
  const org = viewOf(query.data);
  const name = org?.name;
  useEffect(() => {
    if (name !== undefined) lastOrg.set({ orgId, name });
  }, [orgId, name]);
  if (!org)
    return (
      <Layout name="">
        <Loaded query={query} what="the org">
          {() => (
            <Failure what="There is no such org" error={new Error('The address is wrong, or you may not see it.')} />
          )}
        </Loaded>
      </Layout>
    );
  return (
    <OrgContext.Provider value={org}>
      <LiveAlertsProvider orgId={orgId}>
        <Layout orgId={orgId} name={org.name}>
          <Pages pages={routes.filter((route) => !route.isPlatform)} base={orgPath(orgId, '')} />
        </Layout>
      </LiveAlertsProvider>
    </OrgContext.Provider>
  );
}

function viewOf(data: unknown): OrgView | undefined {
  const { org, me } = (data ?? {}) as {
    org?: (OrgView & { spend: Pick<OrgView, 'day' | 'resetsAt'> }) | null;
    me?: { org: OrgView | null; app: { spend: Pick<OrgView, 'day' | 'resetsAt'> } | null };
  };
  const found = org ?? me?.org;
  const spend = org?.spend ?? me?.app?.spend;
  return found && spend ? { ...found, day: spend.day, resetsAt: spend.resetsAt } : undefined;
}

function Pages({ pages, base = '' }: { readonly pages: readonly PageRoute[]; readonly base?: string }) {
  const session = useSession();
  return (
    <Switch>
      {pages
        .filter((page) => mayOpen(page, session))
        .map(({ path, load }) => (
          <Route key={path} path={base + path}>
            <Lazy load={load} />
          </Route>
        ))}
      <Route>
        <Failure what="There is no such page" error={new Error('The address is wrong, or you may not see it.')} />
      </Route>
    </Switch>
  );
}

function Layout({
  orgId,
  name,
  children,
}: {
  readonly orgId?: string;
  readonly name: string;
  readonly children: ComponentChildren;
}) {
  const { kind } = useSession();
  return (
    <div class="shell">
      <a class="skip" href="#main">
        Skip to the page
      </a>
      <header class="sidebar">
        <Brand />
        {kind === 'PLATFORM_ADMIN' ? (
          <OrgSwitcher orgId={orgId} name={name} />
        ) : (
          <div class="org-button">
            <Icon name="orgs" />
            <span class="name">{name}</span>
          </div>
        )}
        <Navigation orgId={orgId} />
        <UserMenu />
      </header>
      <main id="main" class="main" tabIndex={-1}>
        <IdleNotice />
        {children}
      </main>
      <Toasts />
    </div>
  );
}

/** The page of an app client, which sees no list of apps. */
const appRoute: PageRoute = {
  path: '/apps/:appId',
  load: () => Promise.reject(new Error('it is a link only')),
  nav: { title: 'App', icon: 'apps', group: 'Spend' },
};

function Navigation({ orgId }: { readonly orgId: string | undefined }) {
  const session = useSession();
  const shown = routes.filter(
    (route) => route.nav && mayOpen(route, session) && (route.isPlatform || orgId !== undefined),
  );
  const groups = [...new Set(shown.map(({ nav }) => nav?.group ?? 'Org'))];
  return (
    <nav class="nav" aria-label="Pages">
      {session.app && <NavLink route={{ ...appRoute, path: `/apps/${session.app.appId}` }} orgId={orgId} />}
      {groups.map((group) => (
        <>
          <p key={group} class="nav-title">
            {group}
          </p>
          {shown
            .filter(({ nav }) => nav?.group === group)
            .map((route) => (
              <NavLink key={route.path} route={route} orgId={orgId} />
            ))}
        </>
      ))}
    </nav>
  );
}

function NavLink({ route, orgId }: { readonly route: PageRoute; readonly orgId: string | undefined }) {
  const [location] = useLocation();
  const { unseen } = useLiveAlerts();
  const href = route.isPlatform ? route.path : orgPath(orgId ?? '', route.path);
  const isCurrent = location === href || location.startsWith(`${href}/`);
  if (!route.nav) return null;
  return (
    <Link href={href} aria-current={isCurrent ? 'page' : undefined}>
      <Icon name={route.nav.icon} />
      {route.nav.title}
      {route.path === '/alerts' && unseen > 0 && (
        <span class="count">
          {unseen}
          <span class="hidden-text"> new</span>
        </span>
      )}
    </Link>
  );
}
