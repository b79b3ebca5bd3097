/** One problem of an input, as in `extensions.issues`. */
export interface Issue {
  readonly path: string;
  readonly message: string;
}

export interface ProblemDetails {
  readonly code: string;
  readonly status?: number | undefined;
  readonly requestId?: string | undefined;
  readonly issues?: readonly Issue[] | undefined;
  readonly retryAfterSecs?: number | undefined;
  readonly currentVersion?: number | undefined;
}

/** A request that failed: an error of the gateway, or no response at all (code NETWORK). */
export class Problem extends Error {
  readonly details: ProblemDetails;

  constructor(message: string, details: ProblemDetails) {
    super(message);
    this.details = details;
  }

  get code(): string {
    return this.details.code;
  }

  /** True if the same request may succeed later without any change. */
  get isTemporary(): boolean {
    return ['NETWORK', 'SERVICE_UNAVAILABLE', 'RATE_LIMITED'].includes(this.code) || (this.details.status ?? 0) >= 502;
  }
}

interface ErrorBody {
  readonly errors?: readonly {
    readonly message?: string;
    readonly extensions?: Partial<ProblemDetails>;
  }[];
  /** The form of endpoints that are not GraphQL. */
  readonly error?: Partial<ProblemDetails> & { readonly message?: string };
}

/** The problem that a response of the gateway, or of a proxy before it, describes. */
export function problemOf(body: unknown, status: number): Problem {
  const { errors, error: single } = (body ?? {}) as ErrorBody;
  const error = single ? { message: single.message, extensions: single } : errors?.[0];
  const { code = `HTTP_${status}`, requestId, issues, retryAfterSecs, currentVersion } = error?.extensions ?? {};
  const message = error?.message ?? `The gateway, or a proxy before it, responded with status ${status}.`;
  return new Problem(message, { code, status, requestId, issues, retryAfterSecs, currentVersion });
}

export const unreachable = (): Problem =>
  new Problem('The gateway did not respond. Check the network, or that the gateway is running.', { code: 'NETWORK' });

/** True if the gateway has another version of the console than this page. */
export const isOutdated = (error: unknown): boolean =>
  error instanceof Problem && (error.details.issues?.some(({ path }) => path === 'documentId') ?? false);

/** A sentence for people: what happened and what they can do. */
export function explain(error: unknown): string {
  if (!(error instanceof Problem)) return error instanceof Error ? error.message : String(error);
  const { code, details } = error;
  if (isOutdated(error)) return 'The gateway has a new version of this page. Reload it.';
  if (code === 'RATE_LIMITED')
    return `Too many requests. Wait ${Math.ceil(details.retryAfterSecs ?? 1)} s, then try again.`;
  if (code === 'SERVICE_UNAVAILABLE')
    return `The gateway is overloaded or its database does not respond: ${error.message}.`;
  if (code === 'FORBIDDEN') return `Not allowed: ${error.message}.`;
  if (code === 'VERSION_CONFLICT')
    return 'Somebody else has changed this meanwhile. Nothing was changed. Close this, read it again, and repeat.';
  return sentence(error.message);
}

const sentence = (text: string): string => {
  const capital = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?]$/.test(capital) ? capital : `${capital}.`;
};
