/* The script of a web page that calls the gateway from another origin. It runs in the browser, not in Node. */
/* global graphqlSse, graphqlWs */

globalThis.client = {
  /** The response as far as the page may read it, or why it may not. */
  async send(url, init) {
    try {
      const response = await fetch(url, init);
      return { status: response.status, headers: Object.fromEntries(response.headers), body: await response.json() };
    } catch (error) {
      return { blocked: String(error) };
    }
  },

  /** The first `count` results of a subscription over graphql-ws, or the code its socket was closed with. */
  followSocket(url, connectionParams, request, count) {
    const client = graphqlWs.createClient({ url, connectionParams, retryAttempts: 0 });
    return first(count, client, request, ({ code }) => code ?? 'no connection');
  },

  /** The same over server-sent events read by fetch, or the status of the refusal. */
  followEvents(url, headers, request, count) {
    const client = graphqlSse.createClient({ url, headers, retryAttempts: 0 });
    return first(count, client, request, ({ response, message }) => response?.status ?? message);
  },

  /** How a bare WebSocket fares. */
  openSocket(url) {
    return new Promise((resolve) => {
      const socket = new WebSocket(url, 'graphql-transport-ws');
      socket.onopen = () => {
        resolve('open');
        socket.close();
      };
      socket.onclose = ({ code }) => resolve(`closed with ${code}`);
    });
  },

  /** How the browser's own EventSource fares, which can send no credential. */
  openEventSource(url) {
    return new Promise((resolve) => {
      const source = new EventSource(url);
      const seen = [];
      source.onopen = () => seen.push('open');
      source.addEventListener('next', () => seen.push('next'));
      source.onerror = () => {
        // A source that is only interrupted connects again by itself, for ever.
        resolve([...seen, source.readyState === EventSource.CLOSED ? 'closed' : 'reconnecting']);
        source.close();
      };
    });
  },
};

function first(count, client, request, codeOf) {
  return new Promise((resolve) => {
    const results = [];
    const end = client.subscribe(request, {
      next(result) {
        results.push(result);
        if (results.length < count) return;
        resolve(results);
        end();
      },
      error: (error) => resolve({ refused: codeOf(error) }),
      complete: () => resolve(results),
    });
  });
}
