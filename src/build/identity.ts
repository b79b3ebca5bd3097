import { availableParallelism } from 'node:os';
import { AuditService } from '../audit/audit.service.js';
import { AuditStore } from '../audit/audit.store.js';
import { ChangeFeed } from '../changes/change.feed.js';
import { ChangeService } from '../changes/change.service.js';
import { ChangeStore } from '../changes/change.store.js';
import { AccessTokenService } from '../identity/access-token.service.js';
import { ApiKeyService } from '../identity/api-key.service.js';
import { ApiKeyStore } from '../identity/api-key.store.js';
import { ClientService } from '../identity/client.service.js';
import { ClientStore } from '../identity/client.store.js';
import { ConsoleLinkService } from '../identity/console-link.service.js';
import { ConsoleLinkStore } from '../identity/console-link.store.js';
import { ConsoleSessionService } from '../identity/console-session.service.js';
import { ConsoleSessionStore } from '../identity/console-session.store.js';
import { CredentialService } from '../identity/credential.service.js';
import { CredentialStore } from '../identity/credential.store.js';
import { LoginService } from '../identity/login.service.js';
import { RevocationStore } from '../identity/revocation.store.js';
import { RevocationCache } from '../identity/revocation-cache.js';
import { SessionService } from '../identity/session.service.js';
import { SessionStore } from '../identity/session.store.js';
import type { Tenants } from '../identity/tenants.js';
import { importTokenKeys } from '../identity/token.js';
import { unavailable } from '../lib/errors.js';
import { PendingWrites } from '../lib/pending-writes.js';
import { RootKeys, TokenMint } from '../lib/seal.js';
import { Semaphore } from '../lib/semaphore.js';
import { Throttle } from '../lib/throttle.js';
import { AppService } from '../orgs/app.service.js';
import { AppStore } from '../orgs/app.store.js';
import { LifecycleService } from '../orgs/lifecycle.service.js';
import { LifecycleStore } from '../orgs/lifecycle.store.js';
import { ManagedService } from '../orgs/managed.service.js';
import { ManagedStore } from '../orgs/managed.store.js';
import { OrgService } from '../orgs/org.service.js';
import { OrgStore } from '../orgs/org.store.js';
import { TenantCache } from '../orgs/tenant-cache.service.js';
import { VersionStore } from '../orgs/version.store.js';
import type { Base } from './base.js';

const maxWaitingHashes = 32;
const maxPendingWrites = 64;
/** Audit events of refused logins per client: a burst of this many, then one per minute. */
const refusedRecordBurst = 10;

export type Identity = Awaited<ReturnType<typeof buildIdentity>>;

/**
 * Audit, the change counter, credentials, sessions, orgs and apps: everything that tells who calls, and for which
 * tenant.
 */
export async function buildIdentity(base: Base) {
  const { clock, metrics, store } = base;
  const trail = buildAudit(base);
  const { audit } = trail;
  const { changeStore, changeFeed, changes } = buildChanges(base);
  const shared = {
    changes,
    audit,
    clock,
    metrics,
    revocations: new RevocationStore(store, changeStore),
    revocationCache: new RevocationCache(),
    hashing: newHashing(),
    /** Limits failed attempts per address. */
    failures: newAddressThrottle(base),
  };
  const { credentialStore, credentials } = buildCredentials(base, shared);
  const clientStore = new ClientStore(store);
  const clients = new ClientService({ ...shared, store: clientStore, credentials });
  const tenancy = buildTenancy(base, { changes, audit, credentials, clients });
  const { tenants } = tenancy;
  const withTenants = { ...shared, credentials: credentialStore, tenants };
  const apiKeyStore = new ApiKeyStore(store);
  return {
    ...trail,
    changes,
    changeFeed,
    credentials,
    ...tenancy,
    logins: buildLogins(base, withTenants),
    ...(await buildSessions(base, withTenants)),
    ...buildConsole(base, withTenants),
    clients,
    clientStore,
    apiKeys: buildApiKeys(base, { apiKeyStore, tenants, changes, audit }),
    apiKeyStore,
    /** Limits wrong device and admin keys per address. */
    guesses: newAddressThrottle(base),
  };
}

function newAddressThrottle({ clock, config: { loginPerAddressPerMinute: perMinute } }: Base): Throttle {
  return new Throttle(clock, perMinute, perMinute / 60);
}

function buildChanges({ clock, log, store }: Base) {
  const changeStore = new ChangeStore(store);
  const changeFeed = new ChangeFeed(changeStore, clock, log);
  return { changeStore, changeFeed, changes: new ChangeService(changeStore, changeFeed) };
}

function buildAudit({ config, clock, log, metrics, store }: Base) {
  const pendingWrites = new PendingWrites(maxPendingWrites, log, () => metrics.auditDropped.inc());
  const auditStore = new AuditStore(store);
  const retentionDays = config.retention.auditDays;
  return {
    pendingWrites,
    auditStore,
    audit: new AuditService({ store: auditStore, clock, retentionDays, pending: pendingWrites }),
  };
}

/**
 * Bounds concurrent bcrypt hashes. One core stays free for other work. One of the four libuv threads stays free for
 * DNS, because without it no connection to DynamoDB opens.
 */
function newHashing(): Semaphore {
  const maxConcurrent = Math.max(1, Math.min(3, availableParallelism() - 1));
  return new Semaphore(maxConcurrent, maxWaitingHashes, () => unavailable('too many logins at the same time; retry'));
}

/** The dependencies that credentials, logins, sessions and clients have in common. */
interface Shared {
  readonly changes: ChangeService;
  readonly audit: AuditService;
  readonly revocations: RevocationStore;
  readonly revocationCache: RevocationCache;
  readonly hashing: Semaphore;
  readonly failures: Throttle;
}

interface SharedWithTenants extends Shared {
  readonly credentials: CredentialStore;
  readonly tenants: Tenants;
}

interface TenancyDeps extends Pick<Shared, 'changes' | 'audit'> {
  readonly credentials: CredentialService;
  readonly clients: ClientService;
}

/** Orgs and apps. */
function buildTenancy({ catalog, clock, store }: Base, deps: TenancyDeps) {
  const orgStore = new OrgStore(store);
  const appStore = new AppStore(store);
  const managedStore = new ManagedStore(store);
  const versions = new VersionStore(store);
  const shared = { ...deps, orgStore, appStore, labels: catalog, versions, clock };
  return {
    versions,
    orgStore,
    appStore,
    managedStore,
    managed: new ManagedService({ store: managedStore, audit: deps.audit, clock }),
    tenants: new TenantCache(shared),
    orgs: new OrgService(shared),
    apps: new AppService(shared),
    lifecycle: new LifecycleService({ ...shared, store: new LifecycleStore(store) }),
  };
}

function buildCredentials({ config, clock, metrics, store }: Base, shared: Shared) {
  const { bcryptCost, rootSecrets } = config;
  const credentialStore = new CredentialStore(store);
  const retrievalMint = new TokenMint('tgt_', new RootKeys(rootSecrets, 'retrieval tokens'));
  const deps = { ...shared, store: credentialStore, clock, metrics, bcryptCost, retrievalMint };
  return { credentialStore, credentials: new CredentialService(deps) };
}

function buildLogins({ clock, log, metrics }: Base, shared: SharedWithTenants): LoginService {
  return new LoginService({
    ...shared,
    clock,
    log,
    metrics,
    refusedRecords: new Throttle(clock, refusedRecordBurst, 1 / 60),
  });
}

async function buildSessions({ config, clock, metrics, store }: Base, shared: SharedWithTenants) {
  const { rootSecrets, signingKeys } = config;
  const tokenKeys = await importTokenKeys(signingKeys);
  const accessTokens = new AccessTokenService({ ...shared, clock, metrics, keys: tokenKeys });
  const sessions = new SessionService({
    ...shared,
    sessions: new SessionStore(store),
    clock,
    metrics,
    keys: tokenKeys,
    refreshKeys: new RootKeys(rootSecrets, 'refresh tokens'),
    refreshMint: new TokenMint('tgr_', new RootKeys(rootSecrets, 'refresh token marks')),
  });
  return { sessions, accessTokens, tokenKeys };
}

/** Sessions of the web console, and the links that open them. */
function buildConsole({ config, clock, log, metrics, store }: Base, shared: SharedWithTenants) {
  const { rootSecrets, adminKeys } = config;
  const consoleSessions = new ConsoleSessionService({
    ...shared,
    store: new ConsoleSessionStore(store),
    clock,
    log,
    metrics,
    mint: new TokenMint('tgc_', new RootKeys(rootSecrets, 'console sessions')),
    adminKeys,
  });
  const consoleLinks = new ConsoleLinkService({
    ...shared,
    links: new ConsoleLinkStore(store),
    sessions: consoleSessions,
    clock,
    mint: new TokenMint('tgl_', new RootKeys(rootSecrets, 'console links')),
  });
  return { consoleSessions, consoleLinks };
}

interface ApiKeyShared extends Pick<Shared, 'changes' | 'audit'> {
  readonly apiKeyStore: ApiKeyStore;
  readonly tenants: TenantCache;
}

function buildApiKeys({ config, clock, log, metrics }: Base, { apiKeyStore, tenants, changes, audit }: ApiKeyShared) {
  return new ApiKeyService({
    store: apiKeyStore,
    orgs: { exists: async (orgId) => (await tenants.org(orgId)) !== undefined },
    tenants,
    changes,
    audit,
    clock,
    log,
    metrics,
    rootKeys: new RootKeys(config.rootSecrets, 'device keys'),
  });
}
