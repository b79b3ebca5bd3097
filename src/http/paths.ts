export const graphqlPath = '/graphql';
/** The prefix of the limiter's plain JSON endpoints. */
export const limitsPrefix = '/v1/';

/** Whether pages of other origins may be allowed to call this path. */
export const isCrossOrigin = (path: string): boolean =>
  path === graphqlPath || ['/oauth/', '/.well-known/', limitsPrefix].some((prefix) => path.startsWith(prefix));

/** Whether a request for this URL counts against the concurrency limit. */
export const isLimited = (url: string): boolean => url.startsWith(graphqlPath) || url.startsWith(limitsPrefix);
