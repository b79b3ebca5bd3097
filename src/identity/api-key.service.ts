import { LRUCache } from 'lru-cache';
import type { AuditService } from '../audit/audit.service.js';
import { type Actor, keyEntity } from '../audit/audit-event.js';
import type { ChangeService } from '../changes/change.service.js';
import type { Clock } from '../lib/clock.js';
import { badInput, type GatewayError, notFound, refuseAny, unavailable, WrongKey } from '../lib/errors.js';
import { newUuid, randomHex } from '../lib/id.js';
import type { Log } from '../lib/log.js';
import type { Metrics } from '../lib/metrics.js';
import { equalInConstantTime, type RootKeys } from '../lib/seal.js';
import { type ApiKey, descriptionIssues, formatApiKey, hashApiKey, keyIdIn } from './api-key.js';
import type { ApiKeyStore, KeyProof } from './api-key.store.js';
import { hardwareIdIssues, normalHardwareId } from './hardware-id.js';
import type { Tenants } from './tenants.js';

const secretBytes = 32;
const touchMs = 5 * 60_000;

export interface NewApiKey {
  readonly orgId: string;
  readonly description?: string | null | undefined;
  /** The only device that the key may serve. */
  readonly hardwareId?: string | null | undefined;
  /** The key whose line the new one joins. */
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
  /** Whether there is such an org. */
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
  readonly version: string;
  /** Set while the org is suspended. */
  readonly refusal?: GatewayError;
}

export class ApiKeyService {
  /** By a hash, so that no key stays in memory. Valid while nothing was revoked anywhere. */
  private readonly checked = new LRUCache<string, CheckedKey>({ max: 10_000 });
  private readonly touched = new LRUCache<string, number>({ max: 10_000 });

  constructor(private readonly deps: ApiKeyDeps) {}

  /** Makes a key and shows it, this once. */
  async create(
    { orgId, ...wanted }: NewApiKey,
    actor: Actor,
  ): Promise<{ readonly apiKey: ApiKey; readonly secret: string }> {
    const { description, replaces } = wanted;
    refuseAny([
      ...(typeof description === 'string' ? descriptionIssues(description) : []),
      ...(wanted.hardwareId ? hardwareIdIssues(wanted.hardwareId, 'input.hardwareId') : []),
    ]);
    const { store, orgs, audit, clock } = this.deps;
    if (!(await orgs.exists(orgId))) throw notFound('org');
    const replaced = replaces ? await this.activeKey(orgId, replaces) : undefined;
    if (replaces && !replaced)
      throw badInput({ path: 'input.replaces', message: 'must be the id of an active API key of this org' });
    const keyId = newUuid();
    const hardwareId = wanted.hardwareId ? normalHardwareId(wanted.hardwareId) : replaced?.hardwareId;
    const secret = formatApiKey(keyId, randomHex(secretBytes));
    const named = typeof description === 'string' ? { description } : {};
    const bound = hardwareId === undefined ? {} : { hardwareId };
    const apiKey: ApiKey = {
      nodeType: 'ApiKey',
      orgId,
      keyId,
      ...named,
      ...bound,
      ownerId: replaced?.ownerId ?? keyId,
      active: true,
      createdAt: new Date(clock.nowMs()),
    };
    const details = { ...named, hardware_id: hardwareId, replaces: replaces ?? undefined };
    const act = audit.draft({ orgId, actor, action: 'key_created', entityId: keyEntity(keyId), details });
    if (!(await store.create({ apiKey, proof: this.currentProof(secret) }, [act])))
      throw unavailable('the key could not be made: try again');
    return { apiKey, secret };
  }

  /** Ends a key, everywhere within 2 s. Ended again, it stays ended. */
  async revoke(orgId: string, keyId: string, actor: Actor): Promise<ApiKey> {
    const { store, changes, audit } = this.deps;
    const found = await store.load(keyId);
    if (!found || found.apiKey.orgId !== orgId) throw notFound('API key');
    const act = audit.draft({ orgId, actor, action: 'key_revoked', entityId: keyEntity(keyId) });
    if (found.apiKey.active && (await store.revoke(found.apiKey, [act, changes.draftChange(orgId)])))
      await changes.refresh();
    return { ...found.apiKey, active: false };
  }

  /** Whose a key is. Cached only while nothing was revoked anywhere; `atFirstSight` may refuse to look at one never seen. */
  async verify(presented: string, atFirstSight: () => void = () => undefined): Promise<VerifiedKey> {
    const version = this.deps.changes.version();
    const keyId = keyIdIn(presented);
    if (!keyId) throw invalid();
    const proof = this.currentProof(presented);
    let known = this.checked.get(proof.hash);
    if (!known) atFirstSight();
    if (known?.version !== version) known = await this.check(keyId, presented, proof, version);
    if (known.refusal) throw known.refusal;
    this.noteUse(keyId, proof);
    return known.key;
  }

  /** Those of the lines named that have no active key left: their devices may be claimed by another key. */
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

  private async check(keyId: string, presented: string, current: KeyProof, version: string): Promise<CheckedKey> {
    const { store, tenants, metrics, rootKeys } = this.deps;
    const found = await store.load(keyId);
    const root = rootKeys.byId(found?.proof.rootId);
    // The same work for a key that does not exist.
    const hash = hashApiKey((root ?? rootKeys.first).key, presented);
    const matches = equalInConstantTime(hash, found?.proof.hash ?? '');
    if (!found?.apiKey.active || !root || !matches) {
      this.checked.delete(current.hash);
      throw invalid();
    }
    metrics.keyChecks.inc({ root: root.rootId });
    const { orgId, ownerId, hardwareId } = found.apiKey;
    const refusal = await tenants.refusal({ orgId });
    const key = { orgId, keyId, ownerId, ...(hardwareId === undefined ? {} : { hardwareId }) };
    const known = { key, version, ...(refusal ? { refusal } : {}) };
    this.checked.set(current.hash, known);
    return known;
  }

  private currentProof(key: string): KeyProof {
    const { rootId, key: rootKey } = this.deps.rootKeys.first;
    return { rootId, hash: hashApiKey(rootKey, key) };
  }

  /** At most every five minutes, and never in a caller's way. */
  private noteUse(keyId: string, proof: KeyProof): void {
    const { store, clock, log } = this.deps;
    const nowMs = clock.nowMs();
    if (nowMs - (this.touched.get(keyId) ?? 0) < touchMs) return;
    this.touched.set(keyId, nowMs);
    store.touch(keyId, proof, new Date(nowMs), new Date(nowMs - touchMs)).then(
      (at) => this.touched.set(keyId, at.getTime()),
      (error: unknown) => log.warn({ err: error }, 'failed to update last_used_at of a key'),
    );
  }
}

const invalid = () => new WrongKey('the API key is not valid');
