import { LRUCache } from 'lru-cache';
import type { AuditService } from '../audit/audit.service.js';
import { type Actor, keyEntity } from '../audit/audit-event.js';
import type { Clock } from '../lib/clock.js';
import { type GatewayError, notFound, refuseAny, unavailable, WrongKey } from '../lib/errors.js';
import { newUuid, randomHex } from '../lib/id.js';
import type { Log } from '../lib/log.js';
import type { Metrics } from '../lib/metrics.js';
import { equalInConstantTime, type RootKeys } from '../lib/seal.js';
import { type ApiKey, descriptionIssues, formatApiKey, hashApiKey, keyIdIn } from './api-key.js';
import type { ApiKeyStore, KeyProof } from './api-key.store.js';
import type { SessionService } from './session.service.js';
import type { Tenants } from './tenants.js';

const secretBytes = 32;
const touchMs = 5 * 60_000;

export interface ApiKeyDeps {
  readonly store: ApiKeyStore;
  readonly sessions: Pick<SessionService, 'version' | 'draftVersionChange' | 'noticeVersionChange'>;
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
  readonly orgId: string;
  readonly keyId: string;
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
  async create(orgId: string, description: string | null | undefined, actor: Actor): Promise<{ readonly apiKey: ApiKey; readonly secret: string }> {
    refuseAny(typeof description === 'string' ? descriptionIssues(description) : []);
    const { store, orgs, audit, clock } = this.deps;
    if (!(await orgs.exists(orgId))) throw notFound('org');
    const keyId = newUuid();
    const secret = formatApiKey(keyId, randomHex(secretBytes));
    const named = typeof description === 'string' ? { description } : {};
    const apiKey: ApiKey = { nodeType: 'ApiKey', orgId, keyId, ...named, active: true, createdAt: new Date(clock.nowMs()) };
    const act = audit.draft({ orgId, actor, action: 'key_created', entityId: keyEntity(keyId), details: named });
    if (!(await store.create({ apiKey, proof: this.currentProof(secret) }, [act]))) throw unavailable('the key could not be made: try again');
    return { apiKey, secret };
  }

  /** Ends a key, everywhere within 2 s. Ended again, it stays ended. */
  async revoke(orgId: string, keyId: string, actor: Actor): Promise<ApiKey> {
    const { store, sessions, audit } = this.deps;
    const found = await store.load(keyId);
    if (!found || found.apiKey.orgId !== orgId) throw notFound('API key');
    const act = audit.draft({ orgId, actor, action: 'key_revoked', entityId: keyEntity(keyId) });
    if (found.apiKey.active && (await store.revoke(orgId, keyId, [act, sessions.draftVersionChange(orgId)]))) await sessions.noticeVersionChange();
    return { ...found.apiKey, active: false };
  }

  /** The org and id of a key. Cached only while nothing was revoked anywhere; `atFirstSight` may refuse to look at one never seen. */
  async verify(presented: string, atFirstSight: () => void = () => undefined): Promise<{ readonly orgId: string; readonly keyId: string }> {
    const version = this.deps.sessions.version();
    const keyId = keyIdIn(presented);
    if (!keyId) throw invalid();
    const proof = this.currentProof(presented);
    let known = this.checked.get(proof.hash);
    if (!known) atFirstSight();
    if (known?.version !== version) known = await this.check(keyId, presented, proof, version);
    if (known.refusal) throw known.refusal;
    this.noteUse(keyId, proof);
    return { orgId: known.orgId, keyId };
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
    const { orgId } = found.apiKey;
    const refusal = await tenants.refusal({ orgId });
    const known = { orgId, keyId, version, ...(refusal ? { refusal } : {}) };
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
