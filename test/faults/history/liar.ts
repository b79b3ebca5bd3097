import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A request to the gateway. */
export interface GraphqlRequest {
  readonly headers: IncomingHttpHeaders;
  readonly query: string;
  // biome-ignore lint/suspicious/noExplicitAny: a lie knows the variables of its operation
  readonly variables: any;
}

// biome-ignore lint/suspicious/noExplicitAny: as above
export type GraphqlResponse = { data?: any; errors?: any };

/** Returns the response of a broken server. `truth` sends the request, or a changed one, to the real gateway. */
export type Lie = (
  request: GraphqlRequest,
  truth: (changes?: Partial<GraphqlRequest>) => Promise<GraphqlResponse>,
) => Promise<GraphqlResponse>;

export const honest: Lie = (_request, truth) => truth();
/** Lies about one operation only. */
export const about =
  (field: string, lie: Lie): (() => Lie) =>
  () =>
  (request, truth) =>
    new RegExp(`\\b${field}\\(`).test(request.query) ? lie(request, truth) : truth();

export interface Liar {
  readonly url: string;
  stop(): Promise<void>;
}

/** Starts a server that is broken in one way: a proxy in front of the real gateway that changes responses. */
export async function startLiar(gatewayUrl: string, lie: Lie): Promise<Liar> {
  const server = createServer(async (incoming, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming as AsyncIterable<Buffer>) chunks.push(chunk);
    const { query, variables } = JSON.parse(Buffer.concat(chunks).toString('utf8')) as GraphqlRequest;
    const request = { headers: incoming.headers, query, variables };
    const truth = async (changes: Partial<GraphqlRequest> = {}): Promise<GraphqlResponse> => {
      const { headers, query: text, variables: values } = { ...request, ...changes };
      const credentials = Object.fromEntries(
        ['authorization', 'x-api-key', 'x-admin-key'].flatMap((name) => (headers[name] ? [[name, headers[name]]] : [])),
      );
      const reply = await fetch(gatewayUrl, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...(credentials as Record<string, string>) },
        body: JSON.stringify({ query: text, variables: values }),
      });
      return (await reply.json()) as GraphqlResponse;
    };
    response.setHeader('content-type', 'application/json').end(JSON.stringify(await lie(request, truth)));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/graphql`,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
