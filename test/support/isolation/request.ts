import { adminKey, Caller, type PublicError } from '../app.js';
import type { Row } from './row.js';
import { type Cell, orgIds, type Targets, uuid } from './targets.js';
import { app, foreign, itIn, own, type Role, targets } from './worlds.js';

export interface SentResponse {
  readonly outcome: string;
  /** Status, headers and body, with a placeholder for the named object. */
  readonly bytes: string;
}

const outcomeOfCode: Readonly<Record<string, string>> = {
  UNAUTHENTICATED: 'who',
  FORBIDDEN: 'deny',
  NOT_FOUND: 'none',
  BAD_USER_INPUT: 'bad',
  ALREADY_EXISTS: 'taken',
  STORED: 'ok',
  DUPLICATE: 'again',
};
const outcomeOf = (code: string): string => outcomeOfCode[code] ?? code;

interface Item {
  readonly kind?: string;
  readonly error?: { readonly code: string } | null;
  readonly receipt?: { readonly replayed: boolean } | null;
}

function outcomeFor(data: unknown, errors: readonly PublicError[] | undefined, isOpen: boolean): string {
  if (errors) return outcomeOf(errors[0]?.extensions.code ?? 'an error without a code');
  if (isOpen) return 'ok';
  const it = itIn(data);
  if (it === undefined || it === null) return 'null';
  if (typeof it === 'boolean') return it ? 'ok' : 'no';
  const { nodes, replayed, verdicts } = it as { nodes?: unknown[]; replayed?: boolean; verdicts?: Item[] };
  if (nodes?.length === 0) return 'empty';
  const [item] = (Array.isArray(it) ? it : (verdicts ?? [])) as Item[];
  if (item?.error) return outcomeOf(item.error.code);
  if (item?.kind) return outcomeOf(item.kind);
  return replayed || item?.receipt?.replayed ? 'again' : 'ok';
}

const requestId = 'the-same-for-all';
const credentials = (role: Role): Record<string, string> => {
  if (role === 'admin') return { 'x-admin-key': adminKey };
  if (role === 'device') return { 'x-api-key': own.deviceKey };
  if (role === 'anonymous') return {};
  return { authorization: `Bearer ${(role === 'org' ? own.org : own.client).accessToken}` };
};

/** `it` is the value that identifies the target. */
interface Operation {
  readonly name: string;
  readonly row: Row;
  readonly cell: Cell;
  readonly it: string;
}

/** Sends one operation. Throws if the response contains anything of the foreign tenant. */
async function send({ name, row, cell, it }: Operation, variables: object): Promise<SentResponse> {
  const { document, platform } = row;
  const { role, target } = cell;
  const isSubscription = document.startsWith('subscription');
  const { status, headers, body, outcome } = await (isSubscription ? follow : post)(role, document, variables);
  const shownHeaders = [...headers].filter(([header]) => header !== 'date').sort();
  const bytes = `${status} ${JSON.stringify(shownHeaders)} ${body}`
    .replaceAll(it, '(it)')
    .replaceAll(/;([rt])=\d+/g, ';$1=(n)');
  const isTheirs = role === 'admin' && (platform || (target === 'foreign' && outcome === 'ok'));
  if (!isTheirs && leaks(bytes))
    throw new Error(`the response of ${name} to ${role} about ${target} leaks the foreign tenant: ${bytes}`);
  return { outcome, bytes };
}

/** True if a text contains anything of the foreign tenant, even inside an opaque id. */
export function leaks(text: string): boolean {
  const decoded = (text.match(/[A-Za-z0-9_-]{16,}/g) ?? []).map((part) =>
    Buffer.from(part, 'base64url').toString('latin1'),
  );
  return [text, ...decoded].some((each) => each.includes(foreign.canary) || each.includes(foreign.org.orgId));
}

interface Raw {
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;
  readonly outcome: string;
}

async function post(role: Role, query: string, variables: object): Promise<Raw> {
  const headers = { 'content-type': 'application/json', 'x-request-id': requestId, ...credentials(role) };
  const response = await fetch(app.url, { method: 'POST', headers, body: JSON.stringify({ query, variables }) });
  const body = await response.text();
  const { data, errors } = JSON.parse(body) as { data?: unknown; errors?: PublicError[] };
  return { status: response.status, headers: response.headers, body, outcome: outcomeFor(data, errors, false) };
}

async function follow(role: Role, query: string, variables: object): Promise<Raw> {
  const caller = new Caller(app.url, { 'x-request-id': requestId, ...credentials(role) });
  const { status, headers, data, errors } = await caller.subscribeOnce(query, variables);
  return { status, headers, body: JSON.stringify({ data, errors }), outcome: outcomeFor(data, errors, true) };
}

const isUuid = (named: Targets): boolean => named.malformed === uuid.malformed;

/** The outcomes of a row for a role, one per target. A malformed UUID is refused before the caller is authorized. */
export function expected({ targets: named, outcomes }: Row, role: Role): string[] {
  const given = outcomes[role].split(' ');
  return targets.map((target, i) => {
    if (!named[target]) return '-';
    if (given.length === targets.length) return given[i] ?? '';
    return target === 'malformed' && isUuid(named) ? 'bad' : (given[0] ?? '');
  });
}

/** Sends the operation of a row for one role and one target. */
export async function ask(name: string, row: Row, cell: Cell): Promise<SentResponse> {
  const it = (await row.targets[cell.target]?.(cell)) ?? 'none';
  const isOrg = row.targets === orgIds;
  const tenant = isOrg && cell.target !== 'own' ? foreign : own;
  const orgId = isOrg ? it : cell.role === 'admin' ? own.org.orgId : undefined;
  const response = await send({ name, row, cell, it }, await row.variables(it, { ...cell, tenant, orgId }));
  if (row.undo && response.outcome === 'ok') await row.undo(it);
  return response;
}
