/** Meters the language models of the AI SDK 6, as middleware of `wrapLanguageModel`. */
import type { LanguageModelMiddleware } from 'ai';
import {
  type Admits,
  type AdmittedCall,
  admit,
  type MeteringOptions,
  StreamMeter,
  settled,
  started,
  unsent,
} from './metering/call.js';
import { estimateOf } from './metering/estimate.js';
import type { Usage } from './types.js';
import { object } from './usage/components.js';
import { fromAiSdk } from './usage.js';

export type { Admits, MeteringOptions } from './metering/call.js';

type Wrap = Parameters<NonNullable<LanguageModelMiddleware['wrapStream']>>[0];
type StreamResult = Awaited<ReturnType<Wrap['doStream']>>;
type StreamPart = StreamResult['stream'] extends ReadableStream<infer Part> ? Part : never;

/** A language model of a provider. */
export type AiSdkModel = Wrap['model'];
/** The request to a language model. */
export type AiSdkRequest = Wrap['params'];

export interface AiSdkOptions extends MeteringOptions<AiSdkRequest> {
  /**
   * The model to call for an admitted label, for example `(modelId) => bedrock(modelId)`. Default: the wrapped model; a
   * call is then refused if another model was admitted.
   */
  readonly model?: (modelId: string, label: string) => AiSdkModel;
}

/**
 * Middleware that admits each call of a model before it is made, calls the model of the admitted label, and settles the
 * usage in its result. The retries of the AI SDK are calls of their own.
 */
export function tollgateMiddleware(tollgate: Admits, options: AiSdkOptions = {}): LanguageModelMiddleware {
  const { model: modelOf, ...metering } = options;
  const admitted = async ({ params, model }: Wrap): Promise<{ call: AdmittedCall; target: AiSdkModel }> => {
    const { prompt, tools, maxOutputTokens, abortSignal } = params;
    const estimate = estimateOf({ prompt, tools }, maxOutputTokens);
    const call = await admit(tollgate, metering, params, { estimate, signal: abortSignal });
    const { modelId, label } = call.open;
    const target = await unsent(call, () => (modelOf ? modelOf(modelId, label) : mustBe(model, modelId)));
    return { call, target };
  };
  return {
    specificationVersion: 'v3',
    wrapGenerate: async (wrap) => {
      const { call, target } = await admitted(wrap);
      return settled(
        call,
        () => target.doGenerate(wrap.params),
        ({ usage, content }) => ({ usage: usageIn(usage), output: content }),
      );
    },
    wrapStream: async (wrap) => {
      const { call, target } = await admitted(wrap);
      const result = await started(call, () => target.doStream(wrap.params));
      return { ...result, stream: metered(result.stream, new StreamMeter(call), wrap.params.abortSignal) };
    },
  };
}

/** Without this check, the cost of one model would count as that of another. */
function mustBe(wrapped: AiSdkModel, modelId: string): AiSdkModel {
  if (wrapped.modelId === modelId) return wrapped;
  throw new Error(
    `Tollgate admitted the model "${modelId}", but the wrapped model is "${wrapped.modelId}"; ` +
      'pass the option `model` to call the admitted one',
  );
}

/** Undefined if the provider has not reported its usage. */
function usageIn(usage: object): Usage | undefined {
  const { inputTokens, outputTokens } = usage as { inputTokens?: object; outputTokens?: object };
  const isTold = [object(inputTokens).total, object(outputTokens).total].some((total) => total !== undefined);
  return isTold ? fromAiSdk(usage) : undefined;
}

function see(meter: StreamMeter, part: StreamPart): void {
  if ('delta' in part) meter.output(part.delta);
  const usage = part.type === 'finish' ? usageIn(part.usage) : undefined;
  if (usage) meter.exact(usage);
}

/** The same stream, metered. The AI SDK may stop reading an aborted stream without cancelling it. */
function metered(
  stream: StreamResult['stream'],
  meter: StreamMeter,
  signal: AbortSignal | undefined,
): StreamResult['stream'] {
  const reader = stream.getReader();
  const end = (isComplete: boolean) => {
    signal?.removeEventListener('abort', abort);
    meter.end(isComplete).catch(() => undefined);
  };
  const abort = () => end(false);
  signal?.addEventListener('abort', abort, { once: true });
  const pull = async (controller: ReadableStreamDefaultController<StreamPart>): Promise<void> => {
    try {
      const { done, value } = await reader.read();
      if (!done) {
        see(meter, value);
        return controller.enqueue(value);
      }
      end(true);
      controller.close();
    } catch (error) {
      end(false);
      throw error;
    }
  };
  const cancel = (reason: unknown): Promise<void> => {
    end(false);
    return reader.cancel(reason);
  };
  // Reads only what its own reader asks for.
  return new ReadableStream<StreamPart>({ pull, cancel }, { highWaterMark: 0 });
}
