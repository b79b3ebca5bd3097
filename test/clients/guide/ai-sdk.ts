import type { Tollgate } from '@tollgate/client';
import { type AiSdkModel, tollgateMiddleware } from '@tollgate/client/ai-sdk';
import { generateText, wrapLanguageModel } from 'ai';

/** `provider` is one of the AI SDK, for example `createAmazonBedrock()`. */
export function newModel(tollgate: Tollgate, provider: (modelId: string) => AiSdkModel) {
  const middleware = tollgateMiddleware(tollgate, {
    model: provider,
    labels: ['premium', 'economy'],
    call: ({ providerOptions }) => ({ dimensions: { feature: String(providerOptions?.app?.feature ?? 'chat') } }),
  });
  return wrapLanguageModel({ model: provider('chosen by Tollgate'), middleware });
}

export const summarize = async (model: ReturnType<typeof newModel>, text: string) =>
  generateText({
    model,
    prompt: `Summarize: ${text}`,
    maxOutputTokens: 500,
    providerOptions: { app: { feature: 'summary' } },
  });
