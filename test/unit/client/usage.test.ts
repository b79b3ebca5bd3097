import {
  fromAiSdk,
  fromAnthropic,
  fromBedrock,
  fromGoogle,
  fromInvokeModel,
  fromOpenAi,
  type TokenUsage,
} from '@tollgate/client/usage';
import fc from 'fast-check';
import { priceable } from '../../../client/src/priceable.js';

/** Usage as `input/output name=quantity …`. */
const short = (usage: TokenUsage | undefined): string | undefined =>
  usage &&
  [
    `${usage.inputTokens}/${usage.outputTokens}`,
    ...Object.entries(usage.components).map(([name, quantity]) => `${name}=${quantity}`),
  ].join(' ');

describe('usage of Bedrock Converse', () => {
  it('has cached tokens beside the input', () => {
    const usage = { inputTokens: 100, outputTokens: 20, totalTokens: 120 };
    expect(short(fromBedrock(usage))).toBe('100/20');
    expect(short(fromBedrock({ ...usage, cacheReadInputTokens: 7, cacheWriteInputTokens: 50 }))).toBe(
      '100/20 cacheRead=7 cacheWrite5m=50',
    );
  });

  it('separates cache writes for an hour', () => {
    const cacheDetails = [
      { ttl: '1h', inputTokens: 30 },
      { ttl: '5m', inputTokens: 20 },
    ];
    expect(short(fromBedrock({ inputTokens: 1, outputTokens: 2, cacheWriteInputTokens: 50, cacheDetails }))).toBe(
      '1/2 cacheWrite5m=20 cacheWrite1h=30',
    );
  });
});

describe('usage of Bedrock InvokeModel', () => {
  it.each([
    [
      'Anthropic',
      { usage: { input_tokens: 10, output_tokens: 3, cache_read_input_tokens: 4, cache_creation_input_tokens: 5 } },
      '10/3 cacheRead=4 cacheWrite5m=5',
    ],
    [
      'Nova',
      { usage: { inputTokens: 10, outputTokens: 3, cacheReadInputTokenCount: 4, cacheWriteInputTokenCount: 5 } },
      '10/3 cacheRead=4 cacheWrite5m=5',
    ],
    ['Titan text', { inputTextTokenCount: 10, results: [{ tokenCount: 3, outputText: 'a' }] }, '10/3'],
    ['Titan embeddings', { inputTextTokenCount: 10, embedding: [0.5] }, '10/0'],
    ['Llama', { prompt_token_count: 10, generation_token_count: 3, generation: 'a' }, '10/3'],
    ['Mistral, Jamba, gpt-oss', { usage: { prompt_tokens: 10, completion_tokens: 3 } }, '10/3'],
    [
      'the last chunk of a stream',
      { 'amazon-bedrock-invocationMetrics': { inputTokenCount: 10, outputTokenCount: 3, cacheReadInputTokenCount: 4 } },
      '10/3 cacheRead=4',
    ],
  ])('%s', (_model, body, expected) => {
    expect(short(fromInvokeModel(body))).toBe(expected);
  });

  it('is read from the headers if the body has none (Cohere, DeepSeek)', () => {
    const headers = {
      'x-amzn-bedrock-input-token-count': '10',
      'x-amzn-bedrock-output-token-count': '3',
      'x-amzn-bedrock-cache-read-input-token-count': '4',
    };
    expect(short(fromInvokeModel({ generations: [{ text: 'a' }] }, headers))).toBe('10/3 cacheRead=4');
    expect(short(fromInvokeModel({ usage: { input_tokens: 9, output_tokens: 2 } }, headers))).toBe('9/2');
  });

  it('is unknown if neither has a count', () => {
    expect(fromInvokeModel({ generations: [] }, { 'content-type': 'application/json' })).toBeUndefined();
    expect(fromInvokeModel(null)).toBeUndefined();
  });
});

describe('usage of other providers', () => {
  it('Anthropic: separates cache writes by their time to live', () => {
    const usage = {
      input_tokens: 10,
      output_tokens: 3,
      cache_read_input_tokens: 4,
      cache_creation_input_tokens: 50,
      cache_creation: { ephemeral_5m_input_tokens: 20, ephemeral_1h_input_tokens: 30 },
    };
    expect(short(fromAnthropic(usage))).toBe('10/3 cacheRead=4 cacheWrite5m=20 cacheWrite1h=30');
  });

  it('OpenAI Chat Completions: takes cached, audio and reasoning tokens out of the totals', () => {
    const usage = {
      prompt_tokens: 100,
      completion_tokens: 50,
      total_tokens: 150,
      prompt_tokens_details: { cached_tokens: 60, audio_tokens: 5 },
      completion_tokens_details: { reasoning_tokens: 30, audio_tokens: 8 },
    };
    expect(short(fromOpenAi(usage))).toBe('35/12 cacheRead=60 inputAudio=5 outputAudio=8 reasoning=30');
    expect(short(fromOpenAi({ prompt_tokens: 8, total_tokens: 8 }))).toBe('8/0');
  });

  it('OpenAI Responses: takes cached and reasoning tokens out of the totals', () => {
    const usage = {
      input_tokens: 100,
      input_tokens_details: { cached_tokens: 60 },
      output_tokens: 50,
      output_tokens_details: { reasoning_tokens: 30 },
      total_tokens: 150,
    };
    expect(short(fromOpenAi(usage))).toBe('40/20 cacheRead=60 reasoning=30');
  });

  it('Google: has thoughts and tool prompts beside the rest', () => {
    const usage = {
      promptTokenCount: 100,
      cachedContentTokenCount: 60,
      candidatesTokenCount: 20,
      thoughtsTokenCount: 30,
      toolUsePromptTokenCount: 5,
      totalTokenCount: 155,
    };
    expect(short(fromGoogle(usage))).toBe('45/20 cacheRead=60 reasoning=30');
  });

  it('AI SDK: takes cached and reasoning tokens out of the totals', () => {
    const inputTokens = { total: 100, noCache: 40, cacheRead: 10, cacheWrite: 50 };
    const outputTokens = { total: 20, text: 5, reasoning: 15 };
    expect(short(fromAiSdk({ inputTokens, outputTokens }))).toBe('40/5 cacheRead=10 reasoning=15 cacheWrite5m=50');
    const raw = { cache_creation: { ephemeral_1h_input_tokens: 30 } };
    expect(short(fromAiSdk({ inputTokens, outputTokens, raw }))).toBe(
      '40/5 cacheRead=10 reasoning=15 cacheWrite5m=20 cacheWrite1h=30',
    );
  });

  it('is 0 for figures that are missing or no counts', () => {
    for (const from of [fromBedrock, fromAnthropic, fromOpenAi, fromGoogle, fromAiSdk]) {
      expect(short(from(undefined))).toBe('0/0');
      expect(
        short(from({ inputTokens: -1, input_tokens: 'x', prompt_tokens: Number.NaN, promptTokenCount: 0.5 })),
      ).toBe('0/0');
    }
  });

  it('never counts a token twice or loses one, whatever parts a provider names', () => {
    const tokens = fc.nat(1000);
    fc.assert(
      fc.property(tokens, tokens, tokens, tokens, tokens, tokens, (prompt, cached, heard, made, spoken, thought) => {
        const usage = fromOpenAi({
          prompt_tokens: prompt,
          completion_tokens: made,
          prompt_tokens_details: { cached_tokens: cached, audio_tokens: heard },
          completion_tokens_details: { reasoning_tokens: thought, audio_tokens: spoken },
        });
        expect(totalOf(usage)).toBe(prompt + made);
        expect(short(priceable(usage, null))).toBe(`${prompt}/${made}`);
      }),
      { seed: 18, numRuns: 200 },
    );
  });
});

const totalOf = ({ inputTokens, outputTokens, components }: TokenUsage) =>
  Object.values(components).reduce((sum, quantity) => sum + quantity, inputTokens + outputTokens);

describe('components without a price', () => {
  const usage = fromGoogle({ promptTokenCount: 100, cachedContentTokenCount: 60, thoughtsTokenCount: 30 });
  const pricedBy = (...names: string[]) => ({
    inputUsdMicrosPer1M: 1,
    outputUsdMicrosPer1M: 1,
    entries: names.map((name) => ({ name, usdMicrosPer1M: 1, above: 0 })),
  });

  it('count as input or output tokens', () => {
    expect(short(priceable(usage, pricedBy('input', 'output')))).toBe('100/30');
    expect(short(priceable(usage, pricedBy('input', 'output', 'cacheRead')))).toBe('40/30 cacheRead=60');
    expect(short(priceable(usage, pricedBy('cacheRead', 'reasoning')))).toBe(short(usage));
    expect(short(priceable(usage, undefined))).toBe('100/30');
  });

  it('stay if they are not tokens, or if the cost is known', () => {
    const images = { inputTokens: 1, outputTokens: 0, components: { image: 2 } };
    expect(short(priceable(images, null))).toBe('1/0 image=2');
    expect(short(priceable({ ...usage, costUsdMicros: 5 }, null))).toBe(short(usage));
  });
});
