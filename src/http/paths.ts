export const graphqlPath = '/graphql';
/** The prefix of the limiter's plain JSON endpoints. */
export const limitsPrefix = '/v1/';
export const exportPrefix = '/export/';

/** The web console. Its pages call the paths of its sessions, which begin with the second. */
export const consolePath = '/console';
export const sessionPath = '/session';

/** Whether pages of other origins may be allowed to call this path. */
export const isCrossOrigin = (path: string): boolean =>
  path === graphqlPath ||
  ['/oauth/', '/.well-known/', limitsPrefix, exportPrefix].some((prefix) => path.startsWith(prefix));

/** Whether a request for this URL counts against the concurrency limit. */
export const isLimited = (url: string): boolean =>
  [graphqlPath, limitsPrefix, exportPrefix].some((prefix) => url.startsWith(prefix));

/** Whether an error of this URL is a plain JSON object, not a GraphQL response. */
export const isPlain = (url: string): boolean => [limitsPrefix, exportPrefix].some((prefix) => url.startsWith(prefix));
