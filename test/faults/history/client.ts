import type { TypedDocumentNode } from '@graphql-typed-document-node/core';
import { print } from 'graphql';
import { sleep } from '../../../src/lib/timers.js';
import type { Succeeded } from '../../support/app.js';
import type { Chance } from '../../support/chance.js';
import type { Act, Entry, History, ResponseData, Result } from './history.js';

export interface Credential {
  /** Its name in the history. */
  readonly name: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** What all clients of a history share. */
export interface ClientDeps {
  readonly history: History;
  /** The URL of each gateway. It changes when a gateway is restarted. */
  readonly gateways: readonly { readonly url: string }[];
  /** By tenant: a string that is in all data of this tenant. */
  readonly canaries: Readonly<Record<string, string>>;
}

/** Six times the maximum time of an operation, so that a slow machine does not exceed it. */
const responseMs = 30_000;

interface PublicError {
  readonly message: string;
  readonly extensions: { readonly code: string };
}

/** A client of one tenant that records every call and its result. */
export class HistoryClient {
  constructor(
    private readonly deps: ClientDeps,
    readonly tenant: string,
    readonly credential: Credential,
  ) {}

  with(credential: Credential): HistoryClient {
    return new HistoryClient(this.deps, this.tenant, credential);
  }

  call<T, V>(
    via: number,
    act: Act,
    document: TypedDocumentNode<T, V> | string,
    variables: V,
    read: (data: Succeeded<T>) => ResponseData,
  ): Promise<Entry> {
    const { history } = this.deps;
    const caller = { tenant: this.tenant, credential: this.credential.name, via };
    return history.record(caller, act, (callId) =>
      this.send({ via, callId }, typeof document === 'string' ? document : print(document), variables, read),
    );
  }

  private async send<T>(
    { via, callId }: { readonly via: number; readonly callId: string },
    query: string,
    variables: unknown,
    read: (data: Succeeded<T>) => ResponseData,
  ): Promise<Result> {
    let text: string;
    try {
      const response = await fetch((this.deps.gateways[via] as { url: string }).url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-request-id': callId, ...this.credential.headers },
        body: JSON.stringify({ query, variables }),
        signal: AbortSignal.timeout(responseMs),
      });
      text = await response.text();
    } catch (error) {
      // Nothing was sent over a refused connection. The outcome of any other failure is unknown.
      const refused = (error as { cause?: { code?: string } }).cause?.code === 'ECONNREFUSED';
      const broken = (error as Error).name === 'TimeoutError' ? 'no response' : 'broken connection';
      return {
        outcome: refused ? 'failed' : 'unknown',
        code: refused ? 'refused connection' : broken,
        data: {},
        canaries: [],
      };
    }
    const canaries = Object.keys(this.deps.canaries).filter((tenant) =>
      text.includes(this.deps.canaries[tenant] as string),
    );
    const { data: returned, errors } = JSON.parse(text) as { data?: Succeeded<T>; errors?: readonly PublicError[] };
    if (returned && !errors) return { outcome: 'ok', data: read(returned), canaries };
    const code = errors?.[0]?.extensions.code ?? 'none';
    // After a server error the change may have been applied. After a caller's error it was not.
    const isUnknown = code === 'SERVICE_UNAVAILABLE' || code === 'INTERNAL_SERVER_ERROR' || code === 'none';
    return { outcome: isUnknown ? 'unknown' : 'failed', code, data: {}, canaries };
  }
}

export interface Retries {
  readonly chance: Chance;
  /** The number of gateways. */
  readonly gateways: number;
  readonly giveUpMs: () => number;
  /** Codes of rejections that no retry can change, even if an earlier attempt may have been applied. */
  readonly finalCodes?: readonly string[];
}

/** Retries on alternating gateways until the outcome is known. */
export async function untilKnown(
  { chance, gateways, giveUpMs, finalCodes = [] }: Retries,
  attempt: (via: number) => Promise<Entry>,
): Promise<Entry> {
  let isUnsure = false;
  for (let via = chance.below(gateways); ; via = (via + 1) % gateways) {
    const entry = await attempt(via);
    isUnsure ||= entry.outcome === 'unknown';
    const isFinal = entry.outcome === 'ok' || finalCodes.includes(entry.code ?? '');
    if (isFinal || !(isUnsure || entry.code === 'refused connection') || Date.now() > giveUpMs()) return entry;
    await sleep(chance.between(50, 400));
  }
}
