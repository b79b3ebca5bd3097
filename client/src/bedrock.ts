/** Meters the calls of a `BedrockRuntimeClient` of the AWS SDK 3. */
import {
  type Admits,
  type AdmittedCall,
  admit,
  type MeteringOptions,
  StreamMeter,
  settled,
  started,
} from './metering/call.js';
import { estimateOf, estimateOfBody, type TokenEstimate } from './metering/estimate.js';
import { object, type Reported } from './usage/components.js';
import { providers } from './usage/providers.js';
import { fromBedrock, fromInvokeModel } from './usage.js';

export type { Admits, MeteringOptions } from './metering/call.js';

/** The input of a command. */
export type BedrockRequest = Reported;

interface Args {
  readonly input: BedrockRequest;
}
interface Result {
  readonly output: Reported;
  readonly response?: unknown;
}
type Handler = (args: Args) => Promise<Result>;
type Middleware = (next: Handler, context: { readonly commandName?: string }) => Handler;

/** The part of a client of the AWS SDK that takes middleware. */
export interface BedrockClient {
  readonly middlewareStack: {
    /** `never`, because the types of the SDK name every command. */
    add(middleware: never, options: { readonly step: 'initialize'; readonly name: string }): void;
  };
}

/** How a command is estimated and run. */
interface Metered {
  estimate(input: BedrockRequest): TokenEstimate;
  run(call: AdmittedCall, send: () => Promise<Result>): Promise<Result>;
}

/**
 * Meters `Converse`, `ConverseStream`, `InvokeModel` and `InvokeModelWithResponseStream`: each is admitted before it is
 * sent, goes to the model of the admitted label in place of its `modelId`, and is settled by the usage in its reply.
 * Other commands are not metered. Returns the client.
 */
export function meterBedrock<C extends BedrockClient>(
  client: C,
  tollgate: Admits,
  options: MeteringOptions<BedrockRequest> = {},
): C {
  const middleware: Middleware = (next, { commandName = '' }) => {
    const metered = commands[commandName];
    if (!metered) return next;
    return async (args) => {
      const call = await admit(tollgate, options, args.input, { estimate: metered.estimate(args.input) });
      const { modelId } = call.open;
      return metered.run(call, () => next({ ...args, input: { ...args.input, modelId } }));
    };
  };
  client.middlewareStack.add(middleware as never, { step: 'initialize', name: 'tollgate' });
  return client;
}

const converse = {
  estimate: ({ messages, system, toolConfig, inferenceConfig }: BedrockRequest) =>
    estimateOf({ messages, system, toolConfig }, object(inferenceConfig).maxTokens),
};
const invoke = { estimate: ({ body }: BedrockRequest) => estimateOfBody(parsed(body)) };

const commands: Readonly<Record<string, Metered>> = {
  ConverseCommand: {
    ...converse,
    run: (call, send) =>
      settled(call, send, ({ output: { usage, output } }) => ({
        usage: usage ? fromBedrock(object(usage)) : undefined,
        output,
      })),
  },
  ConverseStreamCommand: {
    ...converse,
    run: (call, send) =>
      streamed(call, send, 'stream', (meter, event) => {
        const { contentBlockDelta, metadata } = event;
        if (contentBlockDelta) meter.output(object(contentBlockDelta).delta);
        if (metadata) meter.exact(fromBedrock(object(object(metadata).usage)));
      }),
  },
  InvokeModelCommand: {
    ...invoke,
    run: (call, send) =>
      settled(call, send, ({ output, response }) => {
        const body = parsed(output.body);
        return { usage: fromInvokeModel(body, object(object(response).headers)), output: body };
      }),
  },
  InvokeModelWithResponseStreamCommand: {
    ...invoke,
    run: (call, send) => {
      const chunks = new ChunkReader();
      return streamed(call, send, 'body', (meter, event) => chunks.see(meter, parsed(object(event.chunk).bytes)));
    },
  },
};

/** Sends a command, and meters the stream in this field of its output. */
async function streamed(
  call: AdmittedCall,
  send: () => Promise<Result>,
  field: string,
  see: (meter: StreamMeter, event: Reported) => void,
): Promise<Result> {
  const result = await started(call, send);
  const meter = new StreamMeter(call);
  const source = result.output[field] as AsyncIterable<Reported>;
  return { ...result, output: { ...result.output, [field]: meter.through(source, (event) => see(meter, event)) } };
}

const utf8 = new TextDecoder();

/** The JSON of a body. Undefined if it is none, or a stream. */
function parsed(body: unknown): unknown {
  const text = body instanceof Uint8Array ? utf8.decode(body) : body;
  if (typeof text !== 'string') return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Parts of a chunk that are output, by family of models. */
const outputs = ['delta', 'contentBlockDelta', 'outputText', 'generation', 'outputs', 'choices', 'text'];

/** Reads the chunks of InvokeModel. Claude tells its usage in two parts, and every model in the last chunk. */
class ChunkReader {
  private claude: Reported = {};

  see(meter: StreamMeter, chunk: unknown): void {
    const { message, usage, ...rest } = object(chunk);
    for (const name of outputs) meter.output(rest[name]);
    this.claude = { ...this.claude, ...object(object(message).usage), ...object(usage) };
    const isClaude = 'input_tokens' in this.claude;
    if (isClaude) {
      const { outputTokens, ...input } = providers.anthropic(this.claude);
      meter.known(input);
    }
    // The last chunk of Claude does not say how long cached tokens live.
    if ('amazon-bedrock-invocationMetrics' in rest)
      meter.exact(isClaude ? providers.anthropic(this.claude) : (fromInvokeModel(rest) ?? {}));
  }
}
