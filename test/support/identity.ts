import { randomBytes } from 'node:crypto';
import type { TypedDocumentNode } from '@graphql-typed-document-node/core';
import { print } from 'graphql';
import { sleep } from '../../src/lib/timers.js';
import { type Answer, Caller, type Client, type TestApp } from './app.js';
import { ManualClock } from './clock.js';
import * as op from './operations.js';
import { patience } from './patience.js';

export const secondMs = 1000;
export const minuteMs = 60 * secondMs;
export const hourMs = 60 * minuteMs;
export const dayMs = 24 * hourMs;

export const whoAmI = '{ me { kind } }';
export const randomRetrieval = () => `tgt_${randomBytes(32).toString('base64url')}`;
export const randomRefresh = () => `tgr_${randomBytes(32).toString('base64url')}`;
export const randomSecret = () => `tgs_${randomBytes(32).toString('base64url')}`;

/** A clock that the test moves. It does not start on a whole second, so that a rounding to seconds shows. */
export const frozenClock = () => new ManualClock({ frozenAtMs: Math.ceil(Date.now() / secondMs) * secondMs + 900 });

/** The code of the first error of a response, or `ok`. */
export const codeIn = ({ errors }: Answer<unknown>): string => errors?.[0]?.extensions.code ?? 'ok';

/** The result of a login: an error code or `ok`. */
export const tryLogIn = async (
  at: TestApp,
  { clientId, clientSecret }: Pick<Client, 'clientId' | 'clientSecret'>,
): Promise<string> => codeIn(await at.anonymous.send(op.IssueTokenDocument, { input: { clientId, clientSecret } }));

/** The result of a query with an access token: an error code or `ok`. */
export const tryToken = async (at: TestApp, accessToken: string): Promise<string> =>
  codeIn(await at.as(accessToken).send(whoAmI));

export const refresh = async (at: TestApp, refreshToken: string) =>
  (await at.anonymous.ask(op.RefreshTokenDocument, { refreshToken })).refreshToken;

export const tryRefresh = async (at: TestApp, refreshToken: string): Promise<string> =>
  codeIn(await at.anonymous.send(op.RefreshTokenDocument, { refreshToken }));

export const retrieve = async (at: TestApp, token: string) =>
  (await at.anonymous.ask(op.RetrieveSecretDocument, { token })).retrieveSecret;

export const tryRetrieve = async (at: TestApp, token: string): Promise<string> =>
  codeIn(await at.anonymous.send(op.RetrieveSecretDocument, { token }));

/** Opens another session of a client. */
export const logInAgain = async (at: TestApp, { clientId, clientSecret }: Client) =>
  (await at.anonymous.ask(op.IssueTokenDocument, { input: { clientId, clientSecret } })).issueToken;

/** Starts a rotation. A client that rotates itself sends its own secret. */
export const rotate = async (who: Caller | Client, given: op.RotateCredentialsInput) => {
  const [caller, input] =
    who instanceof Caller ? [who, given] : [who.caller, { currentSecret: who.clientSecret, ...given }];
  return (await caller.ask(op.RotateCredentialsDocument, { input })).rotateCredentials;
};

export const revoke = async (caller: Caller, token: string) =>
  (await caller.ask(op.RevokeTokenDocument, { token })).revokeToken;

/** Status and body of a response, byte for byte. The request id is fixed, so that two responses can be equal. */
export async function bytesOf<T, V>(
  at: TestApp,
  document: TypedDocumentNode<T, V> | string,
  variables: V,
  headers: Record<string, string> = {},
): Promise<string> {
  const response = await fetch(at.url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-request-id': 'the-same', ...headers },
    body: JSON.stringify({ query: typeof document === 'string' ? document : print(document), variables }),
  });
  return `${response.status} ${await response.text()}`;
}

/** Repeats `attempt` until it returns `expected`, for longer than promised, because the machine may be busy. */
export async function eventually(attempt: () => Promise<string>, expected: string): Promise<string> {
  const untilMs = performance.now() + patience * 3 * secondMs;
  let result = await attempt();
  while (result !== expected && performance.now() < untilMs) {
    await sleep(50);
    result = await attempt();
  }
  return result;
}

export async function auditPage(caller: Caller, variables: op.AuditQueryVariables = {}) {
  const { org } = await caller.ask(op.AuditDocument, variables);
  if (!org) throw new Error('the caller has no org');
  return org.auditEvents;
}

/** The last 100 audit events of an org, newest first. */
export const auditOf = async (caller: Caller, variables: op.AuditQueryVariables = {}) =>
  (await auditPage(caller, { first: 100, ...variables })).nodes;
