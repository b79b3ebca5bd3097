import type { Item, StoreClient } from '../dynamo/client.js';
import { absent, and, equals, greaterThan, lessThan, or, present } from '../dynamo/expression.js';
import { key } from '../dynamo/keys.js';
import { type TransactItem, transactItem } from '../dynamo/transact-item.js';
import { epochSeconds } from '../lib/clock.js';
import { sha256 } from '../lib/id.js';
import { type ClientRef, clientIdOf, parseClientId } from './client-id.js';
import { configKey } from './config-key.js';
import { type Credentials, credentialsOf } from './secret.js';

const retrievals = 'secret_retrieval_tokens';

export const retrievalKey = (token: string) => ({ PK: key`${sha256(token)}` });

/** What a one-time token is good for. Only its hash is stored. */
export interface Retrieval {
  readonly client: ClientRef;
  readonly rotation: number;
  readonly graceHours: number;
  readonly expiresAt: Date;
  readonly used: boolean;
}

export interface NewSecret {
  readonly hash: string;
  readonly check: string;
  readonly createdAt: Date;
  /** The previous secret stays good until then; absent: it ends now. */
  readonly graceExpiresAt?: Date;
  readonly generation: number;
}

export interface Installation {
  readonly seen: Credentials;
  readonly retrieval: Retrieval;
  readonly secret: NewSecret;
  /** Marks this very call, so that a success whose reply was lost is recognised. */
  readonly claim: string;
  readonly drafts: readonly TransactItem[];
}

export class CredentialStore {
  constructor(private readonly client: StoreClient) {}

  /** Consistent. Undefined for a client that does not exist or was deleted. */
  async load(client: ClientRef): Promise<Credentials | undefined> {
    const item = await this.client.get('config', configKey(client), { consistent: true });
    return item && item.deleted_at_ms === undefined ? credentialsOf(item) : undefined;
  }

  draftRetrieval(token: string, { client, rotation, graceHours, expiresAt }: Retrieval, nowMs: number): TransactItem {
    return transactItem({
      table: retrievals,
      put: {
        ...retrievalKey(token),
        org_id: client.orgId,
        app_id: client.appId,
        secret_type: client.appId === undefined ? 'org' : 'app',
        client_id: clientIdOf(client),
        rotation,
        grace_hours: graceHours,
        created_at_epoch: epochSeconds(nowMs),
        expires_at_epoch: epochSeconds(expiresAt.getTime()),
        used: false,
      },
      condition: absent('PK'),
    });
  }

  /** Begins the rotation after the one seen, which voids all retrieval tokens before it. False: another was quicker. */
  async rotate(client: ClientRef, seen: Credentials, drafts: readonly TransactItem[]): Promise<boolean> {
    const outcome = await this.client.transact(
      'fresh',
      [
        {
          table: 'config',
          update: configKey(client),
          set: { client_rotation: seen.rotation + 1 },
          condition: equals('client_rotation', seen.rotation),
        },
      ],
      { riders: drafts },
    );
    return outcome.done;
  }

  async loadRetrieval(token: string): Promise<Retrieval | undefined> {
    const item = await this.client.get(retrievals, retrievalKey(token), { consistent: true });
    return item && toRetrieval(item);
  }

  /** Spends the token and installs the hash, both or neither. False: spent, expired or voided. */
  async install(
    token: string,
    { seen, retrieval: { client, rotation }, secret, claim, drafts }: Installation,
  ): Promise<boolean> {
    const nowSecs = epochSeconds(secret.createdAt.getTime());
    const isUnchanged =
      seen.current === undefined ? absent('client_secret_hash') : equals('client_secret_hash', seen.current.hash);
    const outcome = await this.client.transact(
      'judged',
      [
        {
          table: retrievals,
          update: retrievalKey(token),
          set: { used: true, used_at_epoch: nowSecs, claim },
          condition: and(equals('used', false), greaterThan('expires_at_epoch', nowSecs)),
        },
        {
          table: 'config',
          update: configKey(client),
          set: {
            client_secret_hash: secret.hash,
            client_secret_check: secret.check,
            client_secret_rotation: rotation,
            client_secret_created_at_epoch: nowSecs,
            client_generation: secret.generation,
            ...previousAttributes(seen, secret),
          },
          remove: Object.entries(previousAttributes(seen, secret)).flatMap(([name, value]) =>
            value === undefined ? [name] : [],
          ),
          condition: and(equals('client_rotation', rotation), isUnchanged),
        },
      ],
      { riders: drafts },
    );
    if (outcome.done) return true;
    const [first] = outcome.reasons;
    return first?.kind === 'condition' && first.old?.claim === claim;
  }

  /** Records the first login of an hour together with its audit event. False: one of this hour is recorded already. */
  async noteLogin(client: ClientRef, nowMs: number, hourMs: number, draft: TransactItem): Promise<boolean> {
    const isFirst = or(absent('client_last_login_at_ms'), lessThan('client_last_login_at_ms', hourMs));
    const { done } = await this.client.transact(
      'fresh',
      [
        {
          table: 'config',
          update: configKey(client),
          set: { client_last_login_at_ms: nowMs },
          condition: and(present('PK'), isFirst),
        },
      ],
      { riders: [draft] },
    );
    return done;
  }
}

/** The current secret becomes the previous one if there is a grace; otherwise all of this is undefined. */
function previousAttributes({ current }: Credentials, { graceExpiresAt }: NewSecret): Item {
  const kept = graceExpiresAt && current;
  return {
    client_secret_previous_hash: kept?.hash,
    client_secret_previous_check: kept?.check,
    client_secret_previous_rotation: kept?.rotation,
    client_secret_rotation_grace_expires_at_epoch: kept && epochSeconds(graceExpiresAt.getTime()),
  };
}

const toRetrieval = (item: Item): Retrieval => ({
  client: parseClientId(item.client_id as string) as ClientRef,
  rotation: item.rotation as number,
  graceHours: item.grace_hours as number,
  expiresAt: new Date((item.expires_at_epoch as number) * 1000),
  used: item.used as boolean,
});
