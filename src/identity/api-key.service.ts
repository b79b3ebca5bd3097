import type { AuditService } from '../audit/audit.service.js';
import { type Actor, keyEntity } from '../audit/audit-event.js';
import type { ChangeService } from '../changes/change.service.js';
import type { Clock } from '../lib/clock.js';
import { badInput, type GatewayError, notFound, refuseAny, unavailable, WrongKey } from '../lib/errors.js';
import { newUuid, randomHex } from '../lib/id.js';
import type { Log } from '../lib/log.js';
import { Lru } from '../lib/lru.js';
import type { Metrics } from '../lib/metrics.js';
import { equalInConstantTime, type RootKeys } from '../lib/seal.js';
import { VersionedCache } from '../lib/versioned-cache.js';
import { type ApiKey, descriptionIssues, formatApiKey, hashApiKey, keyIdIn } from './api-key.js';
import type { ApiKeyStore, KeyProof } from './api-key.store.js';
import { hardwareIdIssues, normalHardwareId } from './hardware-id.js';
import type { Tenants } from './tenants.js';

const secretBytes = 32;
/** `last_used_at` is written at most once per this time. */
const lastUsedStepMs = 5 * 60_000;
const maxCachedKeys = 10_000;

export interface NewApiKey {
  readonly orgId: string;
  readonly description?: string | null | undefined;
  /** The only device that the key may serve. */
  readonly hardwareId?: string | null | undefined;
  /** The key that the new one replaces: both own the same devices. */
  readonly replaces?: string | null | undefined;
}

/** A key that was verified. */
export interface VerifiedKey {
  readonly orgId: string;
  readonly keyId: string;
  readonly ownerId: string;
  readonly hardwareId?: string;
}

export interface ApiKeyDeps {
  readonly store: ApiKeyStore;
  readonly changes: ChangeService;
  /** Says if an org exists. */
  readonly orgs: { exists(orgId: string): Promise<boolean> };
  readonly tenants: Tenants;
  readonly audit: AuditService;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly rootKeys: RootKeys;
}

interface CheckedKey {
  readonly key: VerifiedKey;
  /** Set while the org is suspended. */
  readonly refusal?: GatewayError;
}

/** Device keys: creates, revokes and verifies them. */
export class ApiKeyService {
  /** By the hash of the key, so that no key stays in memory. */
  private readonly checkedKeys: VersionedCache<CheckedKey>;
  /** When `last_used_at` of a key was written last, in epoch milliseconds. */
  private readonly lastUsedCache = new Lru<string, number>(maxCachedKeys);

  constructor(private readonly deps: ApiKeyDeps) {
    this.checkedKeys = new VersionedCache(() => deps.changes.version(), maxCachedKeys);
  }

  /** Creates a key. Only this response shows its secret. */
  async create(
    { orgId, ...input }: NewApiKey,
    actor: Actor,
  ): Promise<{ readonly apiKey: ApiKey; readonly secret: string }> {
    const { description, replaces } = input;
    refuseAny([
      ...(typeof description === 'string' ? descriptionIssues(description) : []),
      ...(input.hardwareId ? hardwareIdIssues(input.hardwareId, 'input.hardwareId') : []),
    ]);
    const { store, orgs, audit, clock } = this.deps;
    if (!(await orgs.exists(orgId))) throw notFound('org');
    const replaced = replaces ? await this.activeKey(orgId, replaces) : undefined;
    if (replaces && !replaced)
      throw badInput({ path: 'input.replaces', message: 'must be the id of an active API key of this org' });
    const keyId = newUuid();
    const hardwareId = input.hardwareId ? normalHardwareId(input.hardwareId) : replaced?.hardwareId;
    const secret = formatApiKey(keyId, randomHex(secretBytes));
    const descriptionIfAny = typeof description === 'string' ? { description } : {};
    const apiKey: ApiKey = {
      nodeType: 'ApiKey',
      orgId,
      keyId,
      ...descriptionIfAny,
      ...(hardwareId === undefined ? {} : { hardwareId }),
      ownerId: replaced?.ownerId ?? keyId,
      active: true,
      createdAt: new Date(clock.nowMs()),
    };
    const details = { ...descriptionIfAny, hardware_id: hardwareId, replaces: replaces ?? undefined };
    const event = audit.draft({ orgId, actor, action: 'key_created', entityId: keyEntity(keyId), details });
    if (!(await store.create({ apiKey, proof: this.currentProof(secret) }, [event])))
      throw unavailable(
        'the API key was not created because its id or the key it replaces was changed at the same time; retry',
      );
    return { apiKey, secret };
  }

  /** Revokes a key on all gateways within 2 s. Idempotent. */
  async revoke(orgId: string, keyId: string, actor: Actor): Promise<ApiKey> {
    const { store, changes, audit } = this.deps;
    const found = await store.load(keyId);
    if (!found || found.apiKey.orgId !== orgId) throw notFound('API key');
    const event = audit.draft({ orgId, actor, action: 'key_revoked', entityId: keyEntity(keyId) });
    if (found.apiKey.active && (await store.revoke(found.apiKey, [event, changes.draftChange(orgId)])))
      await changes.refresh();
    return { ...found.apiKey, active: false };
  }

  /**
   * The org and devices of a key. `onCacheMiss` is called before the store is read for a key that is not in the cache;
   * it may throw.
   */
  async verify(presented: string, onCacheMiss: () => void = () => undefined): Promise<VerifiedKey> {
    // An outage comes first: while revocations cannot be checked, no key counts as wrong.
    this.deps.changes.version();
    const keyId = keyIdIn(presented);
    if (!keyId) throw invalidKey();
    const proof = this.currentProof(presented);
    if (!this.checkedKeys.last(proof.hash)) onCacheMiss();
    const checked =
      this.checkedKeys.get(proof.hash) ??
      (await this.checkedKeys.reload(proof.hash, () => this.check(keyId, presented, proof)));
    if (checked.refusal) throw checked.refusal;
    this.noteUse(keyId, proof);
    return checked.key;
  }

  /** The lines without an active key. Another key may claim their devices. */
  endedLines(ownerIds: readonly string[]): Promise<ReadonlySet<string>> {
    return this.deps.store.endedLines(ownerIds);
  }

  /** The line of an active key of the org; undefined if there is no such key. */
  async lineOf(orgId: string, keyId: string): Promise<string | undefined> {
    return (await this.activeKey(orgId, keyId))?.ownerId;
  }

  private async activeKey(orgId: string, keyId: string): Promise<ApiKey | undefined> {
    const found = await this.deps.store.load(keyId);
    return found?.apiKey.orgId === orgId && found.apiKey.active ? found.apiKey : undefined;
  }

  private async check(keyId: string, presented: string, current: KeyProof): Promise<CheckedKey> {
    const { store, tenants, metrics, rootKeys } = this.deps;
    const found = await store.load(keyId);
    const root = rootKeys.byId(found?.proof.rootId);
    // A key that does not exist takes the same time.
    const hash = hashApiKey((root ?? rootKeys.first).key, presented);
    const matches = equalInConstantTime(hash, found?.proof.hash ?? '');
    if (!found?.apiKey.active || !root || !matches) {
      this.checkedKeys.delete(current.hash);
      throw invalidKey();
    }
    metrics.keyChecks.inc({ root: root.rootId });
    const { orgId, ownerId, hardwareId } = found.apiKey;
    const refusal = await tenants.refusal({ orgId });
    const key = { orgId, keyId, ownerId, ...(hardwareId === undefined ? {} : { hardwareId }) };
    return { key, ...(refusal ? { refusal } : {}) };
  }

  private currentProof(key: string): KeyProof {
    const { rootId, key: rootKey } = this.deps.rootKeys.first;
    return { rootId, hash: hashApiKey(rootKey, key) };
  }

  /** Updates `last_used_at` in the background, at most every five minutes per key. */
  private noteUse(keyId: string, proof: KeyProof): void {
    const { store, clock, log } = this.deps;
    const nowMs = clock.nowMs();
    if (nowMs - (this.lastUsedCache.get(keyId) ?? 0) < lastUsedStepMs) return;
    this.lastUsedCache.set(keyId, nowMs);
    store.touch(keyId, proof, new Date(nowMs), new Date(nowMs - lastUsedStepMs)).then(
      (at) => this.lastUsedCache.set(keyId, at.getTime()),
      (error: unknown) => log.warn({ err: error }, 'failed to update API key last_used_at'),
    );
  }
}

const invalidKey = () => new WrongKey('the API key is not valid');
