import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Services } from '../app.js';
import type { Origin } from '../audit/audit-event.js';
import type { OperationInfo } from '../graphql/prepared-operation.js';
import type { LinkPreview } from '../identity/console-link.service.js';
import { linkUrl, maxIdleMs } from '../identity/console-session.js';
import type { StartedSession, VerifiedSession } from '../identity/console-session.service.js';
import { type ClientRole, clientRoles } from '../identity/secret.js';
import { actorName, requirePolicy } from '../identity/viewer.js';
import { addressBucket } from '../lib/address.js';
import { badInput, GatewayError, type Issue, rateLimited, refuseAny } from '../lib/errors.js';
import { Throttle } from '../lib/throttle.js';
import { plainJson } from './accept.js';
import {
  authenticateSession,
  clearedCookie,
  requireConsoleRequest,
  sessionCookie,
  sessionToken,
} from './console-request.js';
import { authenticateRequest } from './credentials.js';
import { beginExchange, type ExchangeDeps, type HttpExchange, record, withTimeout } from './exchange.js';
import { originOf } from './oauth-metadata.js';
import { sessionPath } from './paths.js';
import { hungUp, isRecord, jsonBody } from './request.js';
import { type HttpResponse, refusal, respond } from './response.js';
import { type Route, requirePost } from './route.js';

const maxBodyBytes = 4096;
/** Sign-ins and previews per address: at once, and per second. They are counted before any credential is looked at. */
const maxAttempts = 60;
const attemptsPerSecond = 1;

type SessionEndpointDeps = Pick<ExchangeDeps, 'services' | 'principals' | 'mask'>;

interface SessionCall {
  readonly services: Services;
  readonly exchange: HttpExchange;
  readonly body: Readonly<Record<string, unknown>>;
  readonly from: Origin;
}

interface SessionReply {
  readonly body: object;
  /** The `Set-Cookie` header. */
  readonly cookie?: string;
}

interface SessionEndpoint extends OperationInfo {
  /** Counts against the attempts of the address. */
  readonly isAttempt: boolean;
  /** False for the command line, which sends an admin key. */
  readonly isForPages: boolean;
  readonly handle: (call: SessionCall) => Promise<SessionReply>;
}

const endpoints: Readonly<Record<string, SessionEndpoint>> = {
  [sessionPath]: {
    label: 'startSession',
    isQuery: false,
    isAttempt: true,
    isForPages: true,
    handle: start,
  },
  [`${sessionPath}/preview`]: {
    label: 'previewSession',
    isQuery: true,
    isAttempt: true,
    isForPages: true,
    handle: preview,
  },
  [`${sessionPath}/me`]: { label: 'session', isQuery: true, isAttempt: false, isForPages: true, handle: me },
  [`${sessionPath}/end`]: { label: 'endSession', isQuery: false, isAttempt: false, isForPages: true, handle: end },
  [`${sessionPath}/link`]: {
    label: 'createConsoleLink',
    isQuery: false,
    isAttempt: false,
    isForPages: false,
    handle: createLink,
  },
};

/** The sessions of the web console: sign in, look, sign out, and make links. */
export function sessionRoutes(deps: SessionEndpointDeps): Readonly<Record<string, Route>> {
  const attempts = new Throttle(deps.services.clock, maxAttempts, attemptsPerSecond);
  return Object.fromEntries(
    Object.entries(endpoints).map(([path, endpoint]) => [
      path,
      (request, response) => serve(deps, { endpoint, attempts }, request, response),
    ]),
  );
}

interface LimitedEndpoint {
  readonly endpoint: SessionEndpoint;
  readonly attempts: Throttle;
}

/** Responds to a request, and writes its log line and metrics. */
async function serve(
  deps: SessionEndpointDeps,
  limited: LimitedEndpoint,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { services, principals, mask } = deps;
  const exchange = beginExchange(services, request, response, limited.endpoint);
  const { requestId, address } = exchange;
  let release: (() => void) | undefined;
  let reply: HttpResponse;
  try {
    release = principals.admit(`address ${addressBucket(address)}`);
    reply = await execute(services, limited, exchange);
  } catch (error) {
    if (hungUp(request, error)) return;
    reply = refusal(error, plainJson, mask(error, requestId));
  } finally {
    release?.();
  }
  record(services, exchange, reply.outcome);
  respond(response, reply, requestId);
}

async function execute(
  services: Services,
  { endpoint, attempts }: LimitedEndpoint,
  exchange: HttpExchange,
): Promise<HttpResponse> {
  const { request, address, requestId } = exchange;
  requirePost(request);
  if (endpoint.isAttempt) takeAttempt(attempts, address);
  if (endpoint.isForPages) requireConsoleRequest(services.config, request);
  const body = await jsonBody(request, maxBodyBytes);
  if (!isRecord(body)) throw badInput({ path: 'body', message: 'must be a JSON object' });
  const call: SessionCall = { services, exchange, body, from: { address, requestId } };
  const reply = await withTimeout(services, exchange, () => endpoint.handle(call));
  return {
    status: 200,
    headers: {
      'content-type': `${plainJson}; charset=utf-8`,
      ...(reply.cookie === undefined ? {} : { 'set-cookie': reply.cookie }),
    },
    body: JSON.stringify(reply.body),
    outcome: 'ok',
  };
}

function takeAttempt(attempts: Throttle, address: string): void {
  const waitMs = attempts.take(addressBucket(address));
  if (waitMs > 0)
    throw rateLimited('too many sign-ins from this address; retry after retryAfterSecs', waitMs, {
      name: 'sign-ins',
      quota: maxAttempts,
      windowSecs: maxAttempts / attemptsPerSecond,
    });
}

/** POST /session: signs in by client credentials or by a link. */
async function start({ services, exchange, body, from }: SessionCall): Promise<SessionReply> {
  const { config, logins, consoleSessions, consoleLinks } = services;
  let session: StartedSession;
  if (body.token === undefined) {
    const login = await logins.logIn(
      { clientId: text(body, 'clientId'), clientSecret: text(body, 'clientSecret') },
      { ...from, via: 'console' },
    );
    session = await consoleSessions.startForLogin(login, from);
  } else {
    refuseAny(['clientId', 'clientSecret'].flatMap((path) => (body[path] === undefined ? [] : [besideToken(path)])));
    session = await consoleLinks.open(text(body, 'token'), from);
  }
  exchange.viewer = session.viewer;
  return { body: await describeSession(services, session), cookie: sessionCookie(config, session.token) };
}

const besideToken = (path: string): Issue => ({ path, message: 'must not be sent with a token' });

/** POST /session/preview: what a link is for. */
async function preview({ services, body, from }: SessionCall): Promise<SessionReply> {
  const link = await services.consoleLinks.preview(text(body, 'token'), from);
  return { body: { ...(await describeViewer(services, link)), expiresAt: new Date(link.expiresAtMs) } };
}

/** POST /session/me: the session of the cookie. */
async function me({ services, exchange }: SessionCall): Promise<SessionReply> {
  const session = await authenticateSession(services, exchange.request);
  exchange.viewer = session.viewer;
  return { body: await describeSession(services, session) };
}

/** POST /session/end: signs out. Succeeds also if the session has ended before. */
async function end({ services, exchange, from }: SessionCall): Promise<SessionReply> {
  const { config, consoleSessions } = services;
  const token = sessionToken(config, exchange.request);
  if (token !== undefined) await consoleSessions.end(token, from);
  return { body: { ended: true }, cookie: clearedCookie(config) };
}

/** POST /session/link: makes a link, for `tollgate console`. */
async function createLink({ services, exchange, body, from }: SessionCall): Promise<SessionReply> {
  const { config, consoleLinks } = services;
  const { request, address } = exchange;
  const viewer = await authenticateRequest(services, request, address);
  requirePolicy(viewer, 'platform:manage');
  if (viewer.kind !== 'PLATFORM_ADMIN') throw new GatewayError('FORBIDDEN', 'only the platform admin may make links');
  exchange.viewer = viewer;
  const orgId = body.orgId === undefined || body.orgId === null ? {} : { orgId: text(body, 'orgId') };
  const { token, expiresAt } = await consoleLinks.create(viewer.name, { ...orgId, role: roleIn(body) }, from);
  const url = linkUrl(config.publicUrl ?? originOf(request, config.trustProxy), token);
  return { body: { token, url, expiresAt } };
}

function text(body: SessionCall['body'], path: string): string {
  const value = body[path];
  if (typeof value !== 'string' || value === '') throw badInput({ path, message: 'must be a string' });
  return value;
}

function roleIn({ role }: SessionCall['body']): ClientRole {
  const found = role === undefined || role === null ? 'FULL' : clientRoles.find((each) => each === role);
  if (!found) throw badInput({ path: 'role', message: `must be ${clientRoles.join(' or ')}` });
  return found;
}

async function describeSession(services: Services, session: VerifiedSession): Promise<object> {
  return {
    ...(await describeViewer(services, session)),
    expiresAt: new Date(session.expiresAtMs),
    idleExpiresAt: new Date(session.idleExpiresAtMs),
    idleSecs: maxIdleMs / 1000,
  };
}

/** The caller of a session or link, with the names of its org and app. */
async function describeViewer({ tenants }: Services, { viewer, role }: LinkPreview | VerifiedSession): Promise<object> {
  const { kind } = viewer;
  const caller = { kind, actor: actorName(viewer), role };
  if (!('token' in viewer)) return caller;
  const { orgId, token } = viewer;
  const org = await tenants.org(orgId);
  const [app] = viewer.kind === 'APP_CLIENT' ? await tenants.loadApps([viewer]) : [];
  return {
    ...caller,
    clientId: token.clientId,
    org: { orgId, name: org?.name },
    ...(viewer.kind === 'APP_CLIENT' ? { app: { appId: viewer.appId, name: app?.name } } : {}),
  };
}
