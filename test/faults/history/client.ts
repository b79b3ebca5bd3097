import type { TypedDocumentNode } from '@graphql-typed-document-node/core';
import { print } from 'graphql';
import type { Succeeded } from '../../support/app.js';
import type { Act, Entry, History, Result, Told } from './history.js';

export interface Credential {
  /** How the log calls it. */
  readonly name: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Where the gateways are, and whose bytes nobody else may see. */
export interface Surroundings {
  readonly history: History;
  /** The URL of each gateway; it changes when one is started anew. */
  readonly gateways: readonly { readonly url: string }[];
  /** By tenant: a string that stands in all that is its own. */
  readonly canaries: Readonly<Record<string, string>>;
}

/** Six times what any operation may take: it is late on any machine then. */
const answerMs = 30_000;

interface PublicError {
  readonly message: string;
  readonly extensions: { readonly code: string };
}

/** A client of one tenant that puts on record all that it asks and is told. */
export class HistoryClient {
  constructor(
    private readonly around: Surroundings,
    readonly tenant: string,
    readonly credential: Credential,
  ) {}

  with(credential: Credential): HistoryClient {
    return new HistoryClient(this.around, this.tenant, credential);
  }

  call<T, V>(
    via: number,
    act: Act,
    document: TypedDocumentNode<T, V> | string,
    variables: V,
    read: (data: Succeeded<T>) => Told,
  ): Promise<Entry> {
    const { history } = this.around;
    const caller = { tenant: this.tenant, credential: this.credential.name, via };
    return history.record(caller, act, (callId) =>
      this.send({ via, callId }, typeof document === 'string' ? document : print(document), variables, read),
    );
  }

  private async send<T>(
    { via, callId }: { readonly via: number; readonly callId: string },
    query: string,
    variables: unknown,
    read: (data: Succeeded<T>) => Told,
  ): Promise<Result> {
    let text: string;
    try {
      const response = await fetch((this.around.gateways[via] as { url: string }).url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-request-id': callId, ...this.credential.headers },
        body: JSON.stringify({ query, variables }),
        signal: AbortSignal.timeout(answerMs),
      });
      text = await response.text();
    } catch (error) {
      // A connection that was refused has carried nothing; of any other nobody knows.
      const refused = (error as { cause?: { code?: string } }).cause?.code === 'ECONNREFUSED';
      const broken = (error as Error).name === 'TimeoutError' ? 'no answer' : 'broken connection';
      return {
        outcome: refused ? 'failed' : 'unknown',
        code: refused ? 'refused connection' : broken,
        told: {},
        canaries: [],
      };
    }
    const canaries = Object.keys(this.around.canaries).filter((tenant) =>
      text.includes(this.around.canaries[tenant] as string),
    );
    const { data, errors } = JSON.parse(text) as { data?: Succeeded<T>; errors?: readonly PublicError[] };
    if (data && !errors) return { outcome: 'ok', told: read(data), canaries };
    const code = errors?.[0]?.extensions.code ?? 'none';
    // Not even an error of ours says for certain that nothing was done; those of the caller's do.
    const isUnknown = code === 'SERVICE_UNAVAILABLE' || code === 'INTERNAL_SERVER_ERROR' || code === 'none';
    return { outcome: isUnknown ? 'unknown' : 'failed', code, told: {}, canaries };
  }
}
