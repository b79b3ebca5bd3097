import type { StoreClient, Write } from '../dynamo/client.js';
import { absent, and, equals, type Item, lessThan, present } from '../dynamo/expression.js';
import { fields } from '../dynamo/fields.js';
import { key } from '../dynamo/keys.js';
import type { TransactItem } from '../dynamo/transact-item.js';
import { epochSeconds } from '../lib/clock.js';
import { type ConsoleSession, makerOf, maxSessionMs, type Room } from './console-session.js';
import { clientRoles } from './secret.js';

const table = 'refresh_tokens';
const openPrefix = 'open_';

/** `hash`: the SHA-256 of the token. The token itself is not stored. */
export const consoleSessionKey = (hash: string) => ({ PK: key`SESSION#${hash}` });
export const openSessionsKey = (maker: string) => ({ PK: key`SESSIONS#${maker}` });

/** The sessions of one maker that may be open. */
export interface OpenSessions {
  /** Moves with every new session. Absent if there has been none. */
  readonly version?: number;
  /** When each session expires, by its hash. */
  readonly expiries: ReadonlyMap<string, number>;
}

export interface NewSession {
  readonly hash: string;
  readonly session: ConsoleSession;
  /** The open sessions as read before, and those that give way. */
  readonly open: OpenSessions;
  readonly room: Room;
  /** A link that the session uses up comes first. */
  readonly riders: readonly TransactItem[];
}

/** Sessions of the web console, beside an item per maker that lists its open ones. */
export class ConsoleSessionStore {
  constructor(private readonly client: StoreClient) {}

  /** The sessions of a maker. A consistent read. */
  async listOpen(maker: string): Promise<OpenSessions> {
    const item = await this.client.get(table, openSessionsKey(maker), { consistent: true });
    return item ? toOpenSessions(item) : { expiries: new Map() };
  }

  /**
   * Starts a session, lists it and ends those that give way, in one transaction. 'changed' if another session of the
   * maker was started since the list was read, 'rider' if the first rider refused.
   */
  async start({ hash, session, open, room, riders }: NewSession): Promise<'started' | 'changed' | 'rider'> {
    const { over, evicted } = room;
    const listed: Write = {
      table,
      update: openSessionsKey(makerOf(session)),
      set: {
        [openPrefix + hash]: epochSeconds(session.expiresAtMs),
        expires_at_epoch: epochSeconds(session.activeAtMs + maxSessionMs),
      },
      add: { version: 1 },
      remove: [...over, ...evicted].map((each) => openPrefix + each),
      condition: open.version === undefined ? absent('version') : equals('version', open.version),
    };
    const outcome = await this.client.transact(
      'fresh',
      [
        { table, put: toItem(hash, session), condition: absent('PK'), fresh: true },
        listed,
        ...evicted.map((each) => ({ table, delete: consoleSessionKey(each) }) as const),
      ],
      { riders },
    );
    if (outcome.done) return 'started';
    return outcome.riderReasons[0]?.kind === 'condition' ? 'rider' : 'changed';
  }

  /** A consistent read. Undefined if it was ended; one that is over may still be found. */
  async load(hash: string): Promise<ConsoleSession | undefined> {
    const item = await this.client.get(table, consoleSessionKey(hash), { consistent: true });
    return item && toSession(item);
  }

  /** Records activity, unless the session was ended or a later activity is recorded. */
  async touch(hash: string, atMs: number): Promise<void> {
    await this.client.write(
      {
        table,
        update: consoleSessionKey(hash),
        set: { active_at_ms: atMs },
        condition: and(present('PK'), lessThan('active_at_ms', atMs)),
      },
      { repeat: 'idempotent' },
    );
  }

  /** Ends a session. Idempotent: `riders` are applied once. */
  async end(hash: string, session: ConsoleSession, riders: readonly TransactItem[]): Promise<void> {
    // If the condition fails, the session was ended already: by another call, or by this one before its response was
    // lost.
    await this.client.transact(
      'judged',
      [
        { table, delete: consoleSessionKey(hash), condition: present('PK') },
        {
          table,
          update: openSessionsKey(makerOf(session)),
          remove: [openPrefix + hash],
          // The list may have expired. Then this makes a new one, which must expire too.
          setIfAbsent: { expires_at_epoch: epochSeconds(session.expiresAtMs) },
        },
      ],
      { riders },
    );
  }
}

const toItem = (hash: string, { sessionId, role, client, admin, activeAtMs, expiresAtMs }: ConsoleSession): Item => ({
  ...consoleSessionKey(hash),
  session_id: sessionId,
  role,
  client_id: client?.clientId,
  generation: client?.generation,
  secret_rotation: client?.secretRotation,
  admin_name: admin?.name,
  admin_key_id: admin?.keyId,
  active_at_ms: activeAtMs,
  issued_at_epoch: epochSeconds(activeAtMs),
  expires_at_epoch: epochSeconds(expiresAtMs),
});

function toSession(item: Item): ConsoleSession {
  const from = fields(table, item);
  const clientId = from.optionalString('client_id');
  const adminName = from.optionalString('admin_name');
  const secretRotation = from.optionalNumber('secret_rotation');
  if (clientId === undefined && adminName === undefined) from.corrupt('client_id', 'a client id');
  return {
    sessionId: from.string('session_id'),
    role: from.oneOf('role', clientRoles),
    ...(clientId === undefined
      ? {}
      : {
          client: {
            clientId,
            generation: from.number('generation'),
            ...(secretRotation === undefined ? {} : { secretRotation }),
          },
        }),
    ...(adminName === undefined ? {} : { admin: { name: adminName, keyId: from.string('admin_key_id') } }),
    activeAtMs: from.number('active_at_ms'),
    expiresAtMs: from.number('expires_at_epoch') * 1000,
  };
}

function toOpenSessions(item: Item): OpenSessions {
  const from = fields(table, item);
  const names = Object.keys(item).filter((name) => name.startsWith(openPrefix));
  const version = from.optionalNumber('version');
  return {
    ...(version === undefined ? {} : { version }),
    expiries: new Map(names.map((name) => [name.slice(openPrefix.length), from.number(name) * 1000])),
  };
}
