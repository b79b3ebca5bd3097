const bytesPerToken = 4;
const tokensOf = (text) => Math.ceil(text.length / bytesPerToken);

/**
 * A language model that needs no network: it repeats the question. To call real models, replace it by a provider of the
 * AI SDK, for example `createAmazonBedrock()` of `@ai-sdk/amazon-bedrock`.
 */
export function echo(modelId) {
  const answer = (prompt) => {
    const question = prompt.flatMap(({ content }) => content).findLast(({ type }) => type === 'text')?.text ?? '';
    const text = `This is ${modelId}. You said: ${question}`;
    const total = tokensOf(JSON.stringify(prompt));
    const usage = {
      inputTokens: { total, noCache: total, cacheRead: 0, cacheWrite: 0 },
      outputTokens: { total: tokensOf(text), text: tokensOf(text), reasoning: 0 },
    };
    return { text, usage, finishReason: { unified: 'stop', raw: 'stop' } };
  };
  return {
    specificationVersion: 'v3',
    provider: 'echo',
    modelId,
    supportedUrls: {},
    async doGenerate({ prompt }) {
      const { text, ...rest } = answer(prompt);
      return { ...rest, content: [{ type: 'text', text }], warnings: [] };
    },
    async doStream({ prompt }) {
      const { text, ...rest } = answer(prompt);
      const words = text.split(/(?<= )/).map((delta) => ({ type: 'text-delta', id: '1', delta }));
      const start = [
        { type: 'stream-start', warnings: [] },
        { type: 'text-start', id: '1' },
      ];
      const end = [
        { type: 'text-end', id: '1' },
        { type: 'finish', ...rest },
      ];
      return { stream: ReadableStream.from([...start, ...words, ...end]) };
    },
  };
}
