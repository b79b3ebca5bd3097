/* The script of a web page that calls the gateway from another origin. It runs in the browser, not in Node. */
/* global graphqlSse, graphqlWs */

globalThis.client = {
  /** The parts of the response that the page may read, or the reason why it may not. */
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

  /** The same over server-sent events read by fetch, or the status of the rejection. */
  followEvents(url, headers, request, count) {
    const client = graphqlSse.createClient({ url, headers, retryAttempts: 0 });
    return first(count, client, request, ({ response, message }) => response?.status ?? message);
  },

  /** Whether a plain WebSocket opens, or the code it was closed with. */
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

  /** The events of the browser's EventSource, which cannot send credentials, until it fails. */
  openEventSource(url) {
    return new Promise((resolve) => {
      const source = new EventSource(url);
      const events = [];
      source.onopen = () => events.push('open');
      source.addEventListener('next', () => events.push('next'));
      source.onerror = () => {
        // An interrupted source reconnects by itself, without end.
        resolve([...events, source.readyState === EventSource.CLOSED ? 'closed' : 'reconnecting']);
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
