/** Meters the calls of a client of the `openai` package 6, and of servers with the same API. */
import { type Admits, admit, type MeteringOptions, StreamMeter, settled, started } from './metering/call.js';
import { estimateOf, type TokenEstimate } from './metering/estimate.js';
import { count, object, type Reported } from './usage/components.js';
import { fromOpenAi } from './usage.js';

export type { Admits, MeteringOptions } from './metering/call.js';

/** The body of a request. */
export type OpenAiRequest = Reported;

/** A resource of the client whose `create` calls a model. */
interface Resource {
  create(body: never, options?: never): unknown;
}

/** The part of the client that calls models. A server may have only some of it. */
export interface OpenAiClient {
  readonly chat?: { readonly completions: Resource };
  readonly completions?: Resource;
  readonly responses?: Resource;
  readonly embeddings?: Resource;
  withOptions?(options: never): unknown;
}

/** A reply with the HTTP response that it came in. */
interface Reply {
  readonly data: unknown;
  readonly response: unknown;
}
interface ApiPromise {
  withResponse(): Promise<Reply>;
}
interface RequestOptions {
  readonly signal?: AbortSignal | null;
}
type Create = (body: OpenAiRequest, options?: RequestOptions) => ApiPromise;

/** How the requests of a resource are estimated, and how its streams are read. */
interface Api {
  estimate(body: OpenAiRequest): TokenEstimate;
  /** The body of a streaming request. */
  streaming?(body: OpenAiRequest): OpenAiRequest;
  /** Reads one event of a stream. Returns false if the caller has not asked for it. */
  see?(meter: StreamMeter, event: Reported, body: OpenAiRequest): unknown;
}

const completion: Api = {
  estimate: ({ messages, prompt, tools, response_format, max_completion_tokens, max_tokens, n }) => {
    const estimate = estimateOf({ messages, prompt, tools, response_format }, max_completion_tokens, max_tokens);
    return { ...estimate, maxOutputTokens: (estimate.maxOutputTokens ?? 0) * (count(n) || 1) };
  },
  streaming: (body) => ({ ...body, stream_options: { ...object(body.stream_options), include_usage: true } }),
  see: (meter, { choices, usage }, body) => {
    const all = Array.isArray(choices) ? choices.map(object) : [];
    for (const { delta, text } of all) meter.output(delta ?? text);
    if (!usage) return true;
    meter.exact(fromOpenAi(usage));
    // The chunk with the usage has no choice, which a caller that has not asked for it may not expect.
    return all.length > 0 || object(body.stream_options).include_usage === true;
  },
};

const responses: Api = {
  estimate: ({ input, instructions, tools, text, max_output_tokens }) =>
    estimateOf({ input, instructions, tools, text }, max_output_tokens),
  see: (meter, { delta, response }) => {
    meter.output(delta);
    const { usage } = object(response);
    if (usage) meter.exact(fromOpenAi(usage));
  },
};

const embeddings: Api = {
  estimate: ({ input }) => ({ ...estimateOf(input), maxOutputTokens: 0 }),
};

/**
 * Meters `create` of `chat.completions`, `completions`, `responses` and `embeddings`, and the helpers that call it.
 * Each request is admitted before it is sent, goes to the model of the admitted label in place of its `model`, and is
 * settled by the usage in its reply. Changes the client, and returns it.
 */
export function meterOpenAi<C extends OpenAiClient>(
  client: C,
  tollgate: Admits,
  options: MeteringOptions<OpenAiRequest> = {},
): C {
  const apis: readonly (readonly [Resource | undefined, Api])[] = [
    [client.chat?.completions, completion],
    [client.completions, completion],
    [client.responses, responses],
    [client.embeddings, embeddings],
  ];
  for (const [resource, api] of apis) {
    if (!resource) continue;
    const create = resource.create.bind(resource) as Create;
    resource.create = ((body: OpenAiRequest, requestOptions?: RequestOptions) =>
      apiPromise(send({ create, api, tollgate, options }, body, requestOptions))) as Resource['create'];
  }
  // A copy of the client has new resources.
  const copy = client.withOptions?.bind(client) as ((changes: object) => C) | undefined;
  if (copy) client.withOptions = ((changes: object) => meterOpenAi(copy(changes), tollgate, options)) as never;
  return client;
}

interface Metering {
  readonly create: Create;
  readonly api: Api;
  readonly tollgate: Admits;
  readonly options: MeteringOptions<OpenAiRequest>;
}

async function send(metering: Metering, body: OpenAiRequest, requestOptions?: RequestOptions): Promise<Reply> {
  const { create, api, tollgate, options } = metering;
  const call = await admit(tollgate, options, body, {
    estimate: api.estimate(body),
    signal: requestOptions?.signal ?? undefined,
  });
  const sent = { ...(body.stream && api.streaming ? api.streaming(body) : body), model: call.open.modelId };
  const run = () => create(sent, requestOptions).withResponse();
  if (!body.stream) return settled(call, run, ({ data }) => told(object(data)));
  const reply = await started(call, run);
  const meter = new StreamMeter(call);
  return { ...reply, data: metered(reply.data as Stream, meter, (event) => api.see?.(meter, event, body)) };
}

/** A response in the background has no usage yet. */
const told = ({ usage, choices, output }: Reported) => ({
  usage: usage ? fromOpenAi(usage) : undefined,
  output: choices ?? output,
});

interface Stream extends AsyncIterable<Reported> {
  readonly controller: AbortController;
}

/** A stream of the same class as `stream`, so that `controller`, `tee` and `toReadableStream` work. */
function metered(stream: Stream, meter: StreamMeter, see: (event: Reported) => unknown): Stream {
  const { controller } = stream;
  // Nobody reads a stream that was aborted before its first event.
  controller.signal.addEventListener('abort', () => void meter.end(false).catch(() => undefined), { once: true });
  const StreamClass = stream.constructor as new (
    iterator: () => AsyncIterator<Reported>,
    abort: AbortController,
  ) => Stream;
  return new StreamClass(() => meter.through(stream, see), controller);
}

/** A promise of the data, with the methods of the client's own promise that users and helpers call. */
function apiPromise(reply: Promise<Reply>) {
  const data = reply.then((each) => each.data);
  const instead = <T>(promise: Promise<T>): Promise<T> => {
    // The caller handles the failure of `promise`, and never sees `data`.
    data.catch(() => undefined);
    return promise;
  };
  return Object.assign(data, {
    withResponse: () => instead(reply),
    asResponse: () => instead(reply.then(({ response }) => response)),
    _thenUnwrap: (transform: (data: unknown, props: Reply) => unknown): unknown =>
      instead(apiPromise(reply.then((each) => ({ ...each, data: transform(each.data, each) })))),
  });
}
