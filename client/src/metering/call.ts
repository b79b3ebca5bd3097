import type { AdmitRequest, Estimate, OpenCall, Usage } from '../types.js';
import { object } from '../usage/components.js';
import { type TokenEstimate, textBytes, tokensOfBytes } from './estimate.js';

/** The part of a `Tollgate` that admits calls. */
export interface Admits {
  readonly spend: { admit(request: AdmitRequest): Promise<OpenCall> };
}

/** What one call asks for. All of it is optional, because an integration estimates the tokens by itself. */
export type CallOptions = Partial<AdmitRequest>;

/** Options of every integration of model calls. */
export interface MeteringOptions<Request> extends Omit<CallOptions, 'requestId' | 'signal'> {
  /** Options of one call, in place of those for all calls. Gets the request as the caller made it. */
  readonly call?: (request: Request) => CallOptions;
}

/** An admitted call of an integration, with its estimate. */
export interface AdmittedCall {
  readonly open: OpenCall;
  readonly estimate: Estimate;
}

/** Admits a call. Throws `QuotaExceeded` or `RateLimited` if it is refused. */
export async function admit<Request>(
  tollgate: Admits,
  { call, ...common }: MeteringOptions<Request>,
  request: Request,
  own: { readonly estimate: TokenEstimate; readonly signal?: AbortSignal | undefined },
): Promise<AdmittedCall> {
  const options: CallOptions = { ...common, ...call?.(request) };
  const estimate = { ...own.estimate, ...options.estimate };
  const signal = options.signal ?? own.signal;
  const admitted = { open: await tollgate.spend.admit({ ...options, estimate, signal }), estimate };
  await unsent(admitted, () => signal?.throwIfAborted());
  return admitted;
}

/** Prepares a call. If that fails, the call was not made and costs nothing. */
export async function unsent<T>({ open }: AdmittedCall, prepare: () => T): Promise<T> {
  try {
    return prepare();
  } catch (error) {
    await open.cancel();
    throw error;
  }
}

/** What a reply tells: its usage, and its output to estimate the usage if it tells none. */
export interface Told {
  readonly usage: Usage | undefined;
  readonly output: unknown;
}

/** Runs an admitted call and settles it by its reply. */
export async function settled<T>(call: AdmittedCall, run: () => PromiseLike<T>, read: (reply: T) => Told): Promise<T> {
  const reply = await started(call, run);
  const { usage, output } = read(reply);
  await call.open.settle(usage ?? guess(call, textBytes(output)));
  return reply;
}

/** Runs an admitted call up to its reply, or to the beginning of its stream. */
export async function started<T>({ open }: AdmittedCall, run: () => PromiseLike<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    // A request that the provider has refused costs nothing. Any other call may have been executed.
    await (isRefusal(error) ? open.cancel() : open.fail());
    throw error;
  }
}

/** A status of the 400s, but not a timeout, in the names of AWS, OpenAI and the AI SDK. */
function isRefusal(error: unknown): boolean {
  const { status, statusCode, $metadata } = object(error);
  const code = status ?? statusCode ?? object($metadata).httpStatusCode;
  return typeof code === 'number' && code >= 400 && code < 500 && code !== 408;
}

/** The usage of a call that does not tell it: the estimated input, and the output by its length. */
const guess = ({ estimate }: AdmittedCall, outputBytes: number): Usage => ({
  inputTokens: estimate.inputTokens ?? 0,
  outputTokens: tokensOfBytes(outputBytes),
  estimated: true,
});

/** Counts a stream as it passes, and settles its call once: when it ends, fails or is closed. */
export class StreamMeter {
  private usage: Usage | undefined;
  private input: Usage = {};
  private outputBytes = 0;
  private isEnded = false;

  constructor(private readonly call: AdmittedCall) {}

  /** A part of the output. */
  output(part: unknown): void {
    this.outputBytes += textBytes(part);
  }

  /** The exact usage of the input, told at the beginning of a stream. */
  known(input: Usage): void {
    this.input = input;
  }

  /** The exact usage. The last one counts. */
  exact(usage: Usage): void {
    this.usage = usage;
  }

  /** The stream has ended by itself, or was closed or has failed. Later calls are ignored. */
  async end(isComplete: boolean): Promise<void> {
    if (this.isEnded) return;
    this.isEnded = true;
    const { open } = this.call;
    if (this.usage) return open.settle(this.usage);
    const guessed = { ...guess(this.call, this.outputBytes), ...this.input };
    await open.settle({ ...guessed, status: isComplete ? 'OK' : 'ERROR' });
  }

  /** The items of a stream, seen by `see` as they pass. An item for which it returns false is left out. */
  async *through<T>(source: AsyncIterable<T>, see: (item: T) => unknown): AsyncGenerator<T, void, undefined> {
    let isComplete = false;
    try {
      for await (const item of source) if (see(item) !== false) yield item;
      isComplete = true;
    } finally {
      // The reader does not wait for Tollgate. A cost that cannot be sent now is in the outbox.
      this.end(isComplete).catch(() => undefined);
    }
  }
}
