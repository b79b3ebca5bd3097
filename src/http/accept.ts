export const graphqlJson = 'application/graphql-response+json';
export const plainJson = 'application/json';
export const eventStream = 'text/event-stream';

/** The content types that a caller accepts. */
export interface Acceptable {
  /** The JSON type of the response; undefined if the caller accepts none. */
  readonly json: typeof graphqlJson | typeof plainJson | undefined;
  readonly events: boolean;
}

const maxRanges = 50;

/** Reads an `Accept` header with its q-values (RFC 9110). Without the header, the response is plain JSON. */
export function acceptable(accept: string | undefined): Acceptable {
  if (accept === undefined || accept.trim() === '') return { json: plainJson, events: false };
  const qualities = qualitiesIn(accept);
  const qualityOf = (type: string): number =>
    qualities.get(type) ?? qualities.get(`${type.split('/')[0]}/*`) ?? qualities.get('*/*') ?? 0;
  const [newer, plain] = [qualityOf(graphqlJson), qualityOf(plainJson)];
  // Equal qualities: the type that is named first wins. A client that sends only a wildcard gets the older type.
  const prefersNewer = newer > plain || (newer === plain && qualities.has(graphqlJson) && isNamedFirst(qualities));
  const json = newer === 0 && plain === 0 ? undefined : prefersNewer ? graphqlJson : plainJson;
  // `*/*` does not select a stream: clients that send it expect a response that ends.
  return { json, events: (qualities.get(eventStream) ?? qualities.get('text/*') ?? 0) > 0 };
}

/** The values of a header in lower case, with their qualities. */
export const qualitiesIn = (header: string): Map<string, number> => new Map(header.split(',', maxRanges).map(rangeOf));

function rangeOf(range: string): [type: string, quality: number] {
  const [type = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
  const q = Number(parameters.find((parameter) => parameter.startsWith('q='))?.slice('q='.length) ?? 1);
  return [type, q >= 0 && q <= 1 ? q : 1];
}

function isNamedFirst(qualities: ReadonlyMap<string, number>): boolean {
  const first = [...qualities.keys()].find((type) => type === graphqlJson || type === plainJson);
  return first === graphqlJson;
}
