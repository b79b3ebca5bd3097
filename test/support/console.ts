import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { adminKey, type Client, type PublicError, type TestApp } from './app.js';

export type Headers = Readonly<Record<string, string>>;

export interface RawReply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** By node:http, because `fetch` sets headers of its own, decodes the body and resolves `..` in the path. */
export async function rawSend(url: string, method: string, headers: Headers = {}, body = ''): Promise<RawReply> {
  const { hostname, port, origin } = new URL(url);
  const path = url.slice(origin.length);
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    request({ hostname, port, path, method, headers }, resolve).on('error', reject).end(body);
  });
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  return { status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks) };
}

/** The headers of a request by a page of the console. */
export const asPage: Headers = {
  'content-type': 'application/json',
  'x-tollgate-console': '1',
  'sec-fetch-site': 'same-origin',
};

export interface ConsoleReply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly json: Readonly<Record<string, unknown>>;
  /** `ok`, or the code of the first error. */
  readonly code: string;
  readonly errors: readonly PublicError[];
}

/** Sends a JSON body by POST, by default as a page of the console does. */
export async function sendAs(
  headers: Headers,
  at: Pick<TestApp, 'origin'>,
  path: string,
  body: object = {},
): Promise<ConsoleReply> {
  const reply = await rawSend(`${at.origin}${path}`, 'POST', headers, JSON.stringify(body));
  const json = JSON.parse(reply.body.toString()) as Record<string, unknown>;
  const errors = (json.errors ?? []) as PublicError[];
  return { ...reply, json, errors, code: errors[0]?.extensions.code ?? 'ok' };
}

/** A signed-in page: the cookie of its session. */
export interface Page {
  readonly cookie: string;
  readonly token: string;
  readonly setCookie: string;
  readonly reply: ConsoleReply;
}

/** Signs in and keeps the cookie. Throws unless it succeeds. */
export async function signIn(at: Pick<TestApp, 'origin'>, body: object): Promise<Page> {
  const reply = await sendAs(asPage, at, '/session', body);
  const [setCookie = ''] = reply.headers['set-cookie'] ?? [];
  const [cookie = ''] = setCookie.split(';');
  if (reply.status !== 200 || cookie === '') throw new Error(`not signed in: ${JSON.stringify(reply.json)}`);
  return { cookie, token: cookie.slice(cookie.indexOf('=') + 1), setCookie, reply };
}

export const secretOf = ({ clientId, clientSecret }: Pick<Client, 'clientId' | 'clientSecret'>) => ({
  clientId,
  clientSecret,
});

/** Makes a link with the admin key and returns its token. */
export async function newLink(at: Pick<TestApp, 'origin'>, wanted: object = {}): Promise<string> {
  const headers = { 'content-type': 'application/json', 'x-admin-key': adminKey };
  const { json, status } = await sendAs(headers, at, '/session/link', wanted);
  if (status !== 200) throw new Error(`no link: ${JSON.stringify(json)}`);
  return json.token as string;
}

/** The result of using a session: an error code or `ok`. */
export const trySession = async (
  at: Pick<TestApp, 'origin'>,
  { cookie }: Pick<Page, 'cookie'>,
  headers: Headers = {},
) => (await sendAs({ ...asPage, cookie, ...headers }, at, '/session/me')).code;

/** Runs a document of the console with the session of a page. */
export const runDocument = (
  at: Pick<TestApp, 'origin'>,
  { cookie }: Pick<Page, 'cookie'>,
  document: string,
  variables: object = {},
) => sendAs({ ...asPage, cookie }, at, '/graphql', { documentId: idOf(document), variables });

export const idOf = (document: string): string => createHash('sha256').update(document).digest('hex');

const manifestOf = (documents: readonly string[]): string =>
  JSON.stringify(Object.fromEntries(documents.map((document) => [idOf(document), document])));

/** A folder like the build of the console, with these documents and files. */
export function consoleFolder({
  documents = [],
  previous,
  files = { 'index.html': '<!doctype html><title>Tollgate</title>' },
}: {
  readonly documents?: readonly string[];
  readonly previous?: readonly string[];
  readonly files?: Readonly<Record<string, string>>;
}): string {
  const dir = mkdtempSync(join(tmpdir(), 'tollgate-console-'));
  const all = {
    ...files,
    'documents.json': manifestOf(documents),
    ...(previous ? { 'documents.previous.json': manifestOf(previous) } : {}),
  };
  for (const [name, content] of Object.entries(all)) {
    mkdirSync(join(dir, name, '..'), { recursive: true });
    writeFileSync(join(dir, name), content);
  }
  return dir;
}
