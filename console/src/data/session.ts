import { Store } from '../lib/store.js';
import { activity, isUnauthenticated, postJson } from './http.js';

/** A session as the gateway describes it. */
export interface Session {
  readonly kind: 'PLATFORM_ADMIN' | 'ORG_CLIENT' | 'APP_CLIENT';
  readonly actor: string;
  readonly role: 'FULL' | 'READ';
  readonly clientId?: string;
  readonly org?: { readonly orgId: string; readonly name: string };
  readonly app?: { readonly appId: string; readonly name: string };
  readonly expiresAt: string;
  readonly idleExpiresAt: string;
  readonly idleSecs: number;
}

/** What a one-time link is for, before it is used. */
export type LinkPreview = Pick<Session, 'kind' | 'actor' | 'role' | 'clientId' | 'org' | 'app' | 'expiresAt'>;

export type SignedOutReason = 'never' | 'signed-out' | 'ended';

export type SessionState =
  | { readonly status: 'checking' }
  | { readonly status: 'failed'; readonly error: unknown }
  | { readonly status: 'out'; readonly reason: SignedOutReason }
  | { readonly status: 'in'; readonly session: Session };

export const sessionState = new Store<SessionState>({ status: 'checking' });

/** The token of a one-time link, from the fragment of its address. */
export const linkToken = (hash: string): string | undefined => /^#token=([\w-]{10,200})$/.exec(hash)?.[1];

/** Asks about a link before it uses it, also if there is a session already; else finds out whether there is one. */
export function beginSession(): void {
  addEventListener('hashchange', () => {
    if (linkToken(location.hash)) location.reload();
  });
  if (linkToken(location.hash)) sessionState.set({ status: 'out', reason: 'never' });
  else void checkSession();
}

/** Finds out whether the cookie of this browser has a session. */
export async function checkSession(): Promise<void> {
  try {
    enter(await postJson<Session>('/session/me', {}));
  } catch (error) {
    sessionState.set(isUnauthenticated(error) ? { status: 'out', reason: 'never' } : { status: 'failed', error });
  }
}

export type SignInInput = { readonly clientId: string; readonly clientSecret: string } | { readonly token: string };

export async function signIn(input: SignInInput): Promise<void> {
  enter(await postJson<Session>('/session', input));
}

export const previewLink = (token: string): Promise<LinkPreview> => postJson('/session/preview', { token });

/** Ends the session on every gateway. */
export async function signOut(): Promise<void> {
  await postJson('/session/end', {});
  sessionState.set({ status: 'out', reason: 'signed-out' });
}

/** Shows the sign-in over the current page, because the gateway no longer knows the session. */
export function sessionEnded(): void {
  if (sessionState.get().status === 'in') sessionState.set({ status: 'out', reason: 'ended' });
}

/** Asks for the session again, which extends it if the user was active. */
export async function renewSession(): Promise<void> {
  try {
    enter(await postJson<Session>('/session/me', {}));
  } catch (error) {
    if (isUnauthenticated(error)) sessionEnded();
    else throw error;
  }
}

function enter(session: Session): void {
  activity.at = Date.now();
  sessionState.set({ status: 'in', session });
}

/** When the session ends without further activity, by the clock of the browser. */
export const idleEndsAt = ({ idleSecs }: Session): number => activity.at + idleSecs * 1000;
