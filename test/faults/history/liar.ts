import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';

/** An operation on its way to the gateway. */
export interface Asked {
  readonly headers: IncomingHttpHeaders;
  readonly query: string;
  // biome-ignore lint/suspicious/noExplicitAny: a lie knows what it lies about
  readonly variables: any;
}

// biome-ignore lint/suspicious/noExplicitAny: as above
export type Told = { data?: any; errors?: any };

/** What a broken server answers, with the real one at hand. */
export type Lie = (asked: Asked, truth: (asked?: Partial<Asked>) => Promise<Told>) => Promise<Told>;

export interface Liar {
  readonly url: string;
  stop(): Promise<void>;
}

/** A server that is broken in one way: the real gateway, behind someone who lies. */
export async function startLiar(gatewayUrl: string, lie: Lie): Promise<Liar> {
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    const { query, variables } = JSON.parse(Buffer.concat(chunks).toString('utf8')) as Asked;
    const asked = { headers: request.headers, query, variables };
    const truth = async (changes: Partial<Asked> = {}): Promise<Told> => {
      const { headers, query: text, variables: values } = { ...asked, ...changes };
      const credentials = Object.fromEntries(
        ['authorization', 'x-api-key', 'x-admin-key'].flatMap((name) => (headers[name] ? [[name, headers[name]]] : [])),
      );
      const answer = await fetch(gatewayUrl, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...(credentials as Record<string, string>) },
        body: JSON.stringify({ query: text, variables: values }),
      });
      return (await answer.json()) as Told;
    };
    response.setHeader('content-type', 'application/json').end(JSON.stringify(await lie(asked, truth)));
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
