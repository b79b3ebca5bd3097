import { LRUCache } from 'lru-cache';
import type { AuditService } from '../audit/audit.service.js';
import { keyEntity } from '../audit/audit-event.js';
import type { Clock } from '../lib/clock.js';
import { notFound, refuseAny, unavailable, WrongKey } from '../lib/errors.js';
import { newUuid, randomHex } from '../lib/id.js';
import type { Log } from '../lib/log.js';
import { equalInConstantTime } from '../lib/seal.js';
import { type ApiKey, descriptionIssues, formatApiKey, hashApiKey, keyIdIn } from './api-key.js';
import type { ApiKeyStore } from './api-key.store.js';
import type { SessionService } from './session.service.js';

const secretBytes = 32;
const touchMs = 5 * 60_000;

export interface ApiKeyParts {
  readonly store: ApiKeyStore;
  readonly sessions: Pick<SessionService, 'version' | 'draftVersionChange' | 'noticeVersionChange'>;
  /** Whether there is such an org. */
  readonly orgs: { exists(orgId: string): Promise<boolean> };
  readonly audit: AuditService;
  readonly clock: Clock;
  readonly log: Log;
  readonly pepper: string;
}

export class ApiKeyService {
  /** Keys that were checked, under the revocation version of before the check: by a hash, so that no key stays in memory. */
  private readonly checked = new LRUCache<string, { readonly orgId: string; readonly keyId: string; readonly version: string }>({ max: 10_000 });
  private readonly touched = new LRUCache<string, number>({ max: 10_000 });

  constructor(private readonly parts: ApiKeyParts) {}

  /** Makes a key and shows it, this once. */
  async create(orgId: string, description: string | null | undefined, actor: string): Promise<{ readonly apiKey: ApiKey; readonly secret: string }> {
    refuseAny(typeof description === 'string' ? descriptionIssues(description) : []);
    const { store, orgs, audit, clock, pepper } = this.parts;
    if (!(await orgs.exists(orgId))) throw notFound('org');
    const keyId = newUuid();
    const secret = formatApiKey(keyId, randomHex(secretBytes));
    const named = typeof description === 'string' ? { description } : {};
    const apiKey: ApiKey = { nodeType: 'ApiKey', orgId, keyId, ...named, active: true, createdAt: new Date(clock.nowMs()) };
    const act = audit.draft({ orgId, actor, action: 'key_created', entityId: keyEntity(keyId), details: named });
    if (!(await store.create({ apiKey, hash: hashApiKey(pepper, secret) }, [act]))) throw unavailable('the key could not be made: try again');
    return { apiKey, secret };
  }

  /** Ends a key, everywhere within 2 s. Ended again, it stays ended. */
  async revoke(orgId: string, keyId: string, actor: string): Promise<ApiKey> {
    const { store, sessions, audit } = this.parts;
    const found = await store.load(keyId);
    if (!found || found.apiKey.orgId !== orgId) throw notFound('API key');
    const act = audit.draft({ orgId, actor, action: 'key_revoked', entityId: keyEntity(keyId) });
    if (found.apiKey.active && (await store.revoke(orgId, keyId, [act, sessions.draftVersionChange(orgId)]))) await sessions.noticeVersionChange();
    return { ...found.apiKey, active: false };
  }

  /** Whose a key is. Remembered only while nothing was revoked anywhere; `atFirstSight` may refuse to look at one never seen. */
  async verify(presented: string, atFirstSight: () => void = () => undefined): Promise<{ readonly orgId: string; readonly keyId: string }> {
    const { store, sessions, pepper } = this.parts;
    const version = sessions.version();
    const keyId = keyIdIn(presented);
    if (!keyId) throw invalid();
    const hash = hashApiKey(pepper, presented);
    let known = this.checked.get(hash);
    if (!known) atFirstSight();
    if (known?.version !== version) {
      const found = await store.load(keyId);
      // Compared also where there is no such key, so that the time taken does not tell.
      const matches = equalInConstantTime(hash, found?.hash ?? '');
      if (!found?.apiKey.active || !matches) {
        this.checked.delete(hash);
        throw invalid();
      }
      known = { orgId: found.apiKey.orgId, keyId, version };
      this.checked.set(hash, known);
    }
    this.noteUse(keyId);
    return { orgId: known.orgId, keyId };
  }

  /** At most every five minutes, and never in a caller's way. */
  private noteUse(keyId: string): void {
    const { store, clock, log } = this.parts;
    const nowMs = clock.nowMs();
    if (nowMs - (this.touched.get(keyId) ?? 0) < touchMs) return;
    this.touched.set(keyId, nowMs);
    store.touch(keyId, new Date(nowMs), new Date(nowMs - touchMs)).then(
      (at) => this.touched.set(keyId, at.getTime()),
      (error: unknown) => log.warn({ err: error }, 'the use of a key could not be noted'),
    );
  }
}

const invalid = () => new WrongKey('the API key is not valid');
