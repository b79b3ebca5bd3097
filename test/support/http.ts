import { errorCodes } from '../../src/lib/errors.js';
import { createLog, type Log } from '../../src/lib/log.js';
import type { PublicError } from './app.js';

export const publicCodes: readonly string[] = [...errorCodes, 'GRAPHQL_PARSE_FAILED', 'GRAPHQL_VALIDATION_FAILED'];
export const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

export interface HttpReply {
  readonly status: number;
  readonly headers: Headers;
  readonly errors: readonly PublicError[];
  readonly text: string;
}

/** The response to one request, with the GraphQL errors of its body if it has any. */
export async function send(url: string, init: RequestInit = {}): Promise<HttpReply> {
  const response = await fetch(url, init);
  const text = await response.text();
  let errors: PublicError[] = [];
  try {
    errors = (JSON.parse(text) as { errors?: PublicError[] }).errors ?? [];
  } catch {}
  return { status: response.status, headers: response.headers, errors, text };
}

export const post = (
  body: string,
  headers: Record<string, string> = { 'content-type': 'application/json' },
): RequestInit => ({ method: 'POST', headers, body });
export const typename = JSON.stringify({ query: '{ __typename }' });

/** Expects errors that all have a public code and the id of their request. */
export function expectPublicErrors({
  errors,
  headers,
}: Pick<HttpReply, 'headers'> & { readonly errors: readonly PublicError[] | undefined }): void {
  expect(errors?.length).toBeGreaterThan(0);
  for (const { extensions } of errors ?? []) {
    expect(publicCodes).toContain(extensions?.code);
    expect(extensions.requestId).toBeTruthy();
    expect(extensions.requestId).toBe(headers.get('x-request-id'));
  }
}

export interface CollectedLog {
  readonly log: Log;
  readonly lines: string[];
  /** The log records with this message. */
  records(message: string): Record<string, unknown>[];
}

export function collectingLog(): CollectedLog {
  const lines: string[] = [];
  const log = createLog('debug', { write: (line: string) => void lines.push(line) });
  const records = (message: string) =>
    lines.map((line) => JSON.parse(line) as Record<string, unknown>).filter(({ msg }) => msg === message);
  return { log, lines, records };
}
