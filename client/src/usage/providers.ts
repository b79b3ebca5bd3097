import { count, object, type Reported, split, type TokenUsage, usageOf } from './components.js';

/** The figures of one provider, in its own names, to usage. */
export type Normalise = (reported: Reported) => TokenUsage;

/** Cache writes by their time to live. Providers that do not say it use five minutes. */
function cacheWrites(total: number, oneHour: number): Readonly<Record<string, number>> {
  const [fiveMinutes = 0, hour = 0] = split(Math.max(total, oneHour), oneHour);
  return { cacheWrite5m: fiveMinutes, cacheWrite1h: hour };
}

/** Tokens that Bedrock has written to the cache for an hour. */
const hourLong = (details: unknown): number =>
  (Array.isArray(details) ? details : [])
    .map(object)
    .reduce((sum, { ttl, inputTokens }) => sum + (ttl === '1h' ? count(inputTokens) : 0), 0);

/** `usage` of Converse, and of Nova in InvokeModel. `inputTokens` has no cached tokens. */
const bedrockConverse: Normalise = (usage) => {
  const written = count(usage.cacheWriteInputTokens) || count(usage.cacheWriteInputTokenCount);
  return usageOf(count(usage.inputTokens), count(usage.outputTokens), {
    cacheRead: count(usage.cacheReadInputTokens) || count(usage.cacheReadInputTokenCount),
    ...cacheWrites(written, hourLong(usage.cacheDetails)),
  });
};

/** `usage` of the Messages API. `input_tokens` has no cached tokens. */
const anthropic: Normalise = (usage) => {
  const created = object(usage.cache_creation);
  const oneHour = count(created.ephemeral_1h_input_tokens);
  const written = count(usage.cache_creation_input_tokens) || count(created.ephemeral_5m_input_tokens) + oneHour;
  return usageOf(count(usage.input_tokens), count(usage.output_tokens), {
    cacheRead: count(usage.cache_read_input_tokens),
    ...cacheWrites(written, oneHour),
  });
};

/** `usage` of Chat Completions and Embeddings. The totals contain cached, audio and reasoning tokens. */
const openAiChat: Normalise = (usage) => {
  const prompt = object(usage.prompt_tokens_details);
  const completion = object(usage.completion_tokens_details);
  const [input = 0, cacheRead = 0, inputAudio = 0] = split(
    count(usage.prompt_tokens),
    count(prompt.cached_tokens),
    count(prompt.audio_tokens),
  );
  const [output = 0, outputAudio = 0, reasoning = 0] = split(
    count(usage.completion_tokens),
    count(completion.audio_tokens),
    count(completion.reasoning_tokens),
  );
  return usageOf(input, output, { cacheRead, inputAudio, outputAudio, reasoning });
};

/** `usage` of Responses. The totals contain cached and reasoning tokens. */
const openAiResponses: Normalise = (usage) => {
  const [input = 0, cacheRead = 0] = split(
    count(usage.input_tokens),
    count(object(usage.input_tokens_details).cached_tokens),
  );
  const [output = 0, reasoning = 0] = split(
    count(usage.output_tokens),
    count(object(usage.output_tokens_details).reasoning_tokens),
  );
  return usageOf(input, output, { cacheRead, reasoning });
};

/** `usageMetadata` of Gemini. The prompt contains cached tokens, but not thoughts and tool prompts. */
const google: Normalise = (usage) => {
  const [input = 0, cacheRead = 0] = split(count(usage.promptTokenCount), count(usage.cachedContentTokenCount));
  return usageOf(input + count(usage.toolUsePromptTokenCount), count(usage.candidatesTokenCount), {
    cacheRead,
    reasoning: count(usage.thoughtsTokenCount),
  });
};

/** `usage` of a language model of the AI SDK 6. The totals contain cached and reasoning tokens. */
const aiSdk: Normalise = (usage) => {
  const [input, output] = [object(usage.inputTokens), object(usage.outputTokens)];
  const [rest = 0, cacheRead = 0, cacheWrite = 0] = split(
    count(input.total) || count(input.noCache) + count(input.cacheRead) + count(input.cacheWrite),
    count(input.cacheRead),
    count(input.cacheWrite),
  );
  const [text = 0, reasoning = 0] = split(
    count(output.total) || count(output.text) + count(output.reasoning),
    count(output.reasoning),
  );
  // The AI SDK does not say how long cached tokens live. The figures of the provider do.
  const raw = object(usage.raw);
  const oneHour = count(object(raw.cache_creation).ephemeral_1h_input_tokens) || hourLong(raw.cacheDetails);
  return usageOf(rest, text, { cacheRead, reasoning, ...cacheWrites(cacheWrite, Math.min(oneHour, cacheWrite)) });
};

/** Token counts of Titan. A text model has one result, an embedding has none. */
const titan: Normalise = (body) => {
  const results = Array.isArray(body.results) ? body.results.map(object) : [];
  // A chunk of a stream has the count of its text in place of the results.
  const output = results.reduce(
    (sum, { tokenCount }) => sum + count(tokenCount),
    count(body.totalOutputTextTokenCount),
  );
  return usageOf(count(body.inputTextTokenCount), output);
};

const llama: Normalise = (body) => usageOf(count(body.prompt_token_count), count(body.generation_token_count));

/** The last chunk of every stream of InvokeModel, whatever its model. */
const bedrockMetrics: Normalise = (metrics) =>
  usageOf(count(metrics.inputTokenCount), count(metrics.outputTokenCount), {
    cacheRead: count(metrics.cacheReadInputTokenCount),
    cacheWrite5m: count(metrics.cacheWriteInputTokenCount),
  });

/** The headers of a response to InvokeModel. Names are in lower case, values are strings. */
const bedrockHeaders: Normalise = (headers) => {
  const figure = (name: string) => count(Number(headers[`x-amzn-bedrock-${name}-token-count`] ?? 0));
  return usageOf(figure('input'), figure('output'), {
    cacheRead: figure('cache-read-input'),
    cacheWrite5m: figure('cache-write-input'),
  });
};

/** How the figures of each provider become usage. */
export const providers = {
  bedrockConverse,
  bedrockMetrics,
  bedrockHeaders,
  anthropic,
  titan,
  llama,
  openAiChat,
  openAiResponses,
  google,
  aiSdk,
} satisfies Readonly<Record<string, Normalise>>;
