import type { StoreClient } from '../dynamo/client.js';
import { absent, and, equals, greaterThan, type Item, lessThan, or, present } from '../dynamo/expression.js';
import { fields } from '../dynamo/fields.js';
import { key } from '../dynamo/keys.js';
import { type TransactItem, transactItem } from '../dynamo/transact-item.js';
import { epochSeconds } from '../lib/clock.js';
import { sha256 } from '../lib/id.js';
import { configKey, credentialsOf } from './client.item.js';
import { type ClientRef, clientIdOf, parseClientId } from './client-id.js';
import type { Credentials } from './secret.js';

const retrievals = 'secret_retrieval_tokens';

export const retrievalKey = (token: string) => ({ PK: key`${sha256(token)}` });

/** The secret that a one-time token may retrieve. Only the hash of the token is stored. */
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
  /** The previous secret works until then. Absent: it ends now. */
  readonly graceExpiresAt?: Date;
  readonly generation: number;
}

export interface Installation {
  /** The credentials as read before the installation. */
  readonly before: Credentials;
  readonly retrieval: Retrieval;
  readonly secret: NewSecret;
  /** A nonce of this call. A retry after a lost response recognises its own success by it. */
  readonly claim: string;
  readonly riders: readonly TransactItem[];
}

export class CredentialStore {
  constructor(private readonly client: StoreClient) {}

  /** A consistent read. Undefined for a client that does not exist or was deleted. */
  async load(client: ClientRef): Promise<Credentials | undefined> {
    const item = await this.client.get('config', configKey(client), { consistent: true });
    return item && item.deleted_at_ms === undefined ? credentialsOf(item) : undefined;
  }

  /** The rider that stores a retrieval token. */
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

  /** Starts the next rotation, which voids all earlier retrieval tokens. False if another rotation came between. */
  async rotate(client: ClientRef, before: Credentials, riders: readonly TransactItem[]): Promise<boolean> {
    const outcome = await this.client.transact(
      'fresh',
      [
        {
          table: 'config',
          update: configKey(client),
          set: { client_rotation: before.rotation + 1 },
          condition: equals('client_rotation', before.rotation),
        },
      ],
      { riders },
    );
    return outcome.done;
  }

  async loadRetrieval(token: string): Promise<Retrieval | undefined> {
    const item = await this.client.get(retrievals, retrievalKey(token), { consistent: true });
    return item && toRetrieval(item);
  }

  /** Marks the token as used and stores the hash, in one transaction. False if the token is used, expired or voided. */
  async install(
    token: string,
    { before, retrieval: { client, rotation }, secret, claim, riders }: Installation,
  ): Promise<boolean> {
    const nowSecs = epochSeconds(secret.createdAt.getTime());
    const isUnchanged =
      before.current === undefined ? absent('client_secret_hash') : equals('client_secret_hash', before.current.hash);
    const previous = previousAttributes(before, secret);
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
            ...previous,
          },
          remove: Object.keys(previous).filter((name) => previous[name] === undefined),
          condition: and(equals('client_rotation', rotation), isUnchanged),
        },
      ],
      { riders },
    );
    if (outcome.done) return true;
    const [first] = outcome.reasons;
    return first?.kind === 'condition' && first.old?.claim === claim;
  }

  /**
   * Records the first login of an hour together with its audit event. False if a login of this hour is already
   * recorded.
   */
  async recordLogin(client: ClientRef, nowMs: number, hourMs: number, event: TransactItem): Promise<boolean> {
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
      { riders: [event] },
    );
    return done;
  }
}

/** With a grace, the current secret becomes the previous one. Without, all these attributes are undefined. */
function previousAttributes({ current }: Credentials, { graceExpiresAt }: NewSecret): Item {
  const previous = graceExpiresAt && current;
  return {
    client_secret_previous_hash: previous?.hash,
    client_secret_previous_check: previous?.check,
    client_secret_previous_rotation: previous?.rotation,
    client_secret_rotation_grace_expires_at_epoch: previous && epochSeconds(graceExpiresAt.getTime()),
  };
}

function toRetrieval(item: Item): Retrieval {
  const from = fields(retrievals, item);
  return {
    client: parseClientId(from.string('client_id')) ?? from.corrupt('client_id', 'a client id'),
    rotation: from.number('rotation'),
    graceHours: from.number('grace_hours'),
    expiresAt: new Date(from.number('expires_at_epoch') * 1000),
    used: from.boolean('used'),
  };
}
