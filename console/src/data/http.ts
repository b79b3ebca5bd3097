import { noteServerTime } from '../lib/time.js';
import { Problem, problemOf, unreachable } from './problem.js';

let hasInput = true;

/** Notes input of the user. The next request then extends the session; requests of timers alone do not. */
export function watchInput(): void {
  const note = () => {
    hasInput = true;
  };
  for (const kind of ['pointerdown', 'keydown', 'wheel'])
    addEventListener(kind, note, { passive: true, capture: true });
}

/** When the last request was sent that extended the session, by the clock of the browser. */
export const activity = { at: Date.now() };

function activityHeader(): Record<string, string> {
  if (!hasInput) return {};
  hasInput = false;
  activity.at = Date.now();
  return { 'x-tollgate-activity': '1' };
}

export interface PostOptions {
  readonly accept?: string;
  readonly signal?: AbortSignal | undefined;
}

/** Sends JSON with the session cookie. Throws a `Problem` if there is no response. */
export async function post(path: string, body: unknown, { accept, signal }: PostOptions = {}): Promise<Response> {
  const headers = {
    'content-type': 'application/json',
    accept: accept ?? 'application/graphql-response+json, application/json',
    'x-tollgate-console': '1',
    ...activityHeader(),
  };
  try {
    const init = { method: 'POST', headers, body: JSON.stringify(body), credentials: 'same-origin' } as const;
    const response = await fetch(path, signal ? { ...init, signal } : init);
    noteServerTime(response.headers.get('date'));
    return response;
  } catch (error) {
    if (signal?.aborted) throw error;
    throw unreachable();
  }
}

/** The JSON of a response; undefined if it is none, for instance the page of a proxy. */
export const jsonOf = (response: Response): Promise<unknown> => response.json().catch(() => undefined);

/** Sends JSON and returns the JSON of a successful response. Throws a `Problem` otherwise. */
export async function postJson<T>(path: string, body: unknown): Promise<T> {
  const response = await post(path, body);
  const json = await jsonOf(response);
  if (!response.ok || json === undefined) throw problemOf(json, response.status);
  return json as T;
}

export const isUnauthenticated = (error: unknown): boolean =>
  error instanceof Problem && error.code === 'UNAUTHENTICATED';
