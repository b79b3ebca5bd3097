/**
 * Usage of a model call from what its provider reports. `usage/providers.ts` has the table of providers, and
 * `usage/components.ts` the arithmetic. Tokens without a price of their own become input or output when a call settles.
 */
import { object, type Reported, type TokenUsage } from './usage/components.js';
import { providers } from './usage/providers.js';

export type { TokenUsage } from './usage/components.js';

/** Null or undefined if the provider has reported nothing. */
type Figures = object | null | undefined;

/** Bedrock Converse: `reply.usage`, and `metadata.usage` of a stream. */
export const fromBedrock = (usage: Figures): TokenUsage => providers.bedrockConverse(object(usage));

/** Anthropic's Messages API: `message.usage`. */
export const fromAnthropic = (usage: Figures): TokenUsage => providers.anthropic(object(usage));

/** OpenAI: `usage` of Chat Completions, Embeddings or Responses. */
export function fromOpenAi(usage: Figures): TokenUsage {
  const reported = object(usage);
  return 'input_tokens' in reported ? providers.openAiResponses(reported) : providers.openAiChat(reported);
}

/** Google's Gemini API and Vertex AI: `response.usageMetadata`. */
export const fromGoogle = (usageMetadata: Figures): TokenUsage => providers.google(object(usageMetadata));

/** AI SDK 6: `usage` of the result of a language model (`LanguageModelV3Usage`). */
export const fromAiSdk = (usage: Figures): TokenUsage => providers.aiSdk(object(usage));

/**
 * Bedrock InvokeModel: the parsed body, and the headers of the response in lower case. Undefined if neither has a
 * count. The body decides, because only some models have the headers.
 */
export function fromInvokeModel(body: unknown, headers: Reported = {}): TokenUsage | undefined {
  return (
    fromBody(object(body)) ??
    ('x-amzn-bedrock-input-token-count' in headers ? providers.bedrockHeaders(headers) : undefined)
  );
}

/** The families of models differ in the names of their figures. */
function fromBody(body: Reported): TokenUsage | undefined {
  const usage = object(body.usage);
  if ('input_tokens' in usage) return providers.anthropic(usage);
  if ('inputTokens' in usage) return providers.bedrockConverse(usage);
  if ('prompt_tokens' in usage) return providers.openAiChat(usage);
  if ('prompt_token_count' in body) return providers.llama(body);
  if ('inputTextTokenCount' in body) return providers.titan(body);
  const metrics = body['amazon-bedrock-invocationMetrics'];
  return metrics === undefined ? undefined : providers.bedrockMetrics(object(metrics));
}
