import { LRUCache } from 'lru-cache';
import type { AuditService } from '../audit/audit.service.js';
import { keyEntity } from '../audit/audit-event.js';
import { hardwareIdIssues, normalHardwareId } from '../devices/device.js';
import type { Clock } from '../lib/clock.js';
import { badInput, notFound, refuseAny, unavailable, WrongKey } from '../lib/errors.js';
import { newUuid, randomHex } from '../lib/id.js';
import type { Log } from '../lib/log.js';
import { equalInConstantTime } from '../lib/seal.js';
import { type ApiKey, descriptionIssues, formatApiKey, hashApiKey, keyIdIn } from './api-key.js';
import type { ApiKeyStore } from './api-key.store.js';
import type { SessionService } from './session.service.js';

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
  private readonly checked = new LRUCache<string, VerifiedKey & { readonly version: string }>({ max: 10_000 });
  private readonly touched = new LRUCache<string, number>({ max: 10_000 });

  constructor(private readonly parts: ApiKeyParts) {}

  /** Makes a key and shows it, this once. */
  async create({ orgId, ...wanted }: NewApiKey, actor: string): Promise<{ readonly apiKey: ApiKey; readonly secret: string }> {
    const { description, replaces } = wanted;
    refuseAny([
      ...(typeof description === 'string' ? descriptionIssues(description) : []),
      ...(wanted.hardwareId ? hardwareIdIssues(wanted.hardwareId, 'input.hardwareId') : []),
    ]);
    const { store, orgs, audit, clock, pepper } = this.parts;
    if (!(await orgs.exists(orgId))) throw notFound('org');
    const replaced = replaces ? await this.activeKey(orgId, replaces) : undefined;
    if (replaces && !replaced) throw badInput({ path: 'input.replaces', message: 'must be the id of an active API key of this org' });
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
    if (!(await store.create({ apiKey, hash: hashApiKey(pepper, secret) }, [act]))) throw unavailable('the key could not be made: try again');
    return { apiKey, secret };
  }

  /** Ends a key, everywhere within 2 s. Ended again, it stays ended. */
  async revoke(orgId: string, keyId: string, actor: string): Promise<ApiKey> {
    const { store, sessions, audit } = this.parts;
    const found = await store.load(keyId);
    if (!found || found.apiKey.orgId !== orgId) throw notFound('API key');
    const act = audit.draft({ orgId, actor, action: 'key_revoked', entityId: keyEntity(keyId) });
    if (found.apiKey.active && (await store.revoke(found.apiKey, [act, sessions.draftVersionChange(orgId)]))) await sessions.noticeVersionChange();
    return { ...found.apiKey, active: false };
  }

  /** Whose a key is. Remembered only while nothing was revoked anywhere; `atFirstSight` may refuse to look at one never seen. */
  async verify(presented: string, atFirstSight: () => void = () => undefined): Promise<VerifiedKey> {
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
      const { orgId, ownerId, hardwareId } = found.apiKey;
      known = { orgId, keyId, ownerId, ...(hardwareId === undefined ? {} : { hardwareId }), version };
      this.checked.set(hash, known);
    }
    this.noteUse(keyId);
    return known;
  }

  /** Those of the lines named that have no active key left: their devices may be claimed by another key. */
  endedLines(ownerIds: readonly string[]): Promise<ReadonlySet<string>> {
    return this.parts.store.endedLines(ownerIds);
  }

  /** The line of an active key of the org; undefined if there is no such key. */
  async lineOf(orgId: string, keyId: string): Promise<string | undefined> {
    return (await this.activeKey(orgId, keyId))?.ownerId;
  }

  private async activeKey(orgId: string, keyId: string): Promise<ApiKey | undefined> {
    const found = await this.parts.store.load(keyId);
    return found?.apiKey.orgId === orgId && found.apiKey.active ? found.apiKey : undefined;
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
