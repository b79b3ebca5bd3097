import {
  keepPreviousData,
  QueryClient,
  type UseQueryResult,
  useInfiniteQuery as useTanstackInfiniteQuery,
  useQuery as useTanstackQuery,
} from '@tanstack/preact-query';
import type { TypedDocumentString } from '../gql/graphql.js';
import { isUnauthenticated, jsonOf, type PostOptions, post } from './http.js';
import { Problem, problemOf } from './problem.js';
import { sessionEnded } from './session.js';

/** The id by which the gateway knows a document of the console. */
export const documentId = (document: TypedDocumentString<unknown, unknown>): string =>
  String((document as { __meta__?: { hash?: string } }).__meta__?.hash);

/** Sends an operation. Throws a `Problem` if any field failed. */
export async function send<T, V>(
  document: TypedDocumentString<T, V>,
  variables: V,
  options: PostOptions = {},
): Promise<T> {
  try {
    const body = { documentId: documentId(document as TypedDocumentString<unknown, unknown>), variables };
    const response = await post('/graphql', body, options);
    const json = (await jsonOf(response)) as { data?: T; errors?: unknown[] } | undefined;
    if (!json || json.errors || json.data === undefined || json.data === null) throw problemOf(json, response.status);
    return json.data;
  } catch (error) {
    if (isUnauthenticated(error)) sessionEnded();
    throw error;
  }
}

const maxRetries = 2;

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 5000,
      gcTime: 10 * 60_000,
      retry: (failures, error) => failures < maxRetries && error instanceof Problem && error.isTemporary,
      refetchOnWindowFocus: true,
    },
  },
});

export interface QueryOptions {
  readonly enabled?: boolean;
  /** Milliseconds between two requests while the tab is visible. Default: never. */
  readonly pollMs?: number;
  /** Shows the result of the last variables while the next one is loaded. */
  readonly keepPrevious?: boolean;
}

/** The key of a document and its variables. */
const keyOf = (document: TypedDocumentString<unknown, unknown>, variables: unknown) => [
  documentId(document),
  variables,
];

/** The result of a query. Polling stops while the tab is hidden. */
export function useQuery<T, V>(
  document: TypedDocumentString<T, V>,
  variables: V,
  { enabled = true, pollMs, keepPrevious = false }: QueryOptions = {},
): UseQueryResult<T> {
  return useTanstackQuery({
    queryKey: keyOf(document as TypedDocumentString<unknown, unknown>, variables),
    queryFn: ({ signal }) => send(document, variables, { signal }),
    enabled,
    ...(pollMs ? { refetchInterval: pollMs } : {}),
    ...(keepPrevious ? { placeholderData: keepPreviousData } : {}),
  }) as UseQueryResult<T>;
}

/** The place of a page in its list. */
export interface PageInfo {
  readonly hasNextPage: boolean;
  readonly endCursor: string | null;
}

/** The pages of a connection that were loaded so far. */
export function usePages<T, V extends { readonly after?: string | null | undefined }>(
  document: TypedDocumentString<T, V>,
  variables: V,
  pageInfoOf: (page: T) => PageInfo | undefined,
  { enabled = true, pollMs }: QueryOptions = {},
) {
  return useTanstackInfiniteQuery({
    queryKey: [...keyOf(document as TypedDocumentString<unknown, unknown>, variables), 'pages'],
    queryFn: ({ signal, pageParam }) => send(document, { ...variables, after: pageParam }, { signal }),
    initialPageParam: null as string | null,
    getNextPageParam: (page: T) => {
      const info = pageInfoOf(page);
      return info?.hasNextPage ? info.endCursor : undefined;
    },
    enabled,
    ...(pollMs ? { refetchInterval: pollMs } : {}),
  });
}

/** Reads everything on the page again, after a change. */
export const refreshAll = (): Promise<void> => queryClient.invalidateQueries();
