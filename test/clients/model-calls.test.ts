import {
  BedrockRuntimeClient,
  ConverseCommand,
  ConverseStreamCommand,
  CountTokensCommand,
  InvokeModelCommand,
  InvokeModelWithResponseStreamCommand,
} from '@aws-sdk/client-bedrock-runtime';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import { type AdmitRequest, QuotaExceeded } from '@tollgate/client';
import { tollgateMiddleware } from '@tollgate/client/ai-sdk';
import { type Admits, meterBedrock } from '@tollgate/client/bedrock';
import { meterOpenAi } from '@tollgate/client/openai';
import { type RecordedCost, TestTollgate } from '@tollgate/client/testing';
import { generateText, streamText, wrapLanguageModel } from 'ai';
import { convertArrayToReadableStream, MockLanguageModelV3 } from 'ai/test';
import OpenAI from 'openai';
import { chunkOf, type FakeModels, startFakeBedrock, startFakeOpenAi } from '../support/fake-models.js';
import { until } from '../support/until.js';
import { newModel, summarize } from './guide/ai-sdk.js';
import { ask, newBedrock as bedrockOfGuide } from './guide/bedrock.js';
import { answer, newOpenAi as openAiOfGuide } from './guide/openai.js';
import { meterAnthropic } from './guide/usage.js';

const premium = 'anthropic.claude-3-5-sonnet-20241022-v2:0';

const stage = new TestTollgate({ models: [{ label: 'premium', modelId: premium }] });
const { tollgate: broke } = new TestTollgate({ models: [{ label: 'premium', quotaUsdMicros: 1 }] });
const requests: AdmitRequest[] = [];
/** A Tollgate that keeps the requests for admission. */
const tollgate: Admits = {
  spend: {
    admit: (request) => {
      requests.push(request);
      return stage.tollgate.spend.admit(request);
    },
  },
};

let before = 0;
beforeEach(() => {
  before = stage.costs.length;
  requests.length = 0;
});

/** The only cost of a test, as `input/output`, with `~` if it is estimated and `!` if the call failed. */
async function cost(): Promise<string> {
  await until('the call is settled', () => stage.openCalls === 0 && stage.costs.length > before);
  const [{ inputTokens, outputTokens, components, estimated, status }, ...others] = stage.costs.slice(before) as [
    RecordedCost,
    ...RecordedCost[],
  ];
  expect(others).toEqual([]);
  // The price has no entries for components.
  expect(components).toEqual({});
  before++;
  return `${inputTokens}/${outputTokens}${estimated ? ' ~' : ''}${status === 'ERROR' ? ' !' : ''}`;
}

const hello = 'Hello, how many r are in strawberry?'; // 36 bytes: 12 tokens by the estimate

describe('bedrock', () => {
  let fake: FakeModels;
  let bedrock: BedrockRuntimeClient;
  beforeAll(async () => {
    fake = await startFakeBedrock();
    bedrock = meterBedrock(newBedrock(), tollgate);
  });
  afterAll(() => fake.stop());
  afterEach(() => {
    fake.requests.length = 0;
  });

  const config = () => ({
    endpoint: fake.url,
    region: 'eu-central-1',
    credentials: { accessKeyId: 'a', secretAccessKey: 'b' },
    requestHandler: new NodeHttpHandler(),
    maxAttempts: 1,
  });
  const newBedrock = () => new BedrockRuntimeClient(config());
  const conversation = {
    modelId: 'any',
    messages: [{ role: 'user' as const, content: [{ text: hello }] }],
    inferenceConfig: { maxTokens: 300 },
  };
  const invocation = {
    modelId: 'any',
    body: JSON.stringify({ max_tokens: 300, messages: [{ role: 'user', content: hello }] }),
  };
  const usage = { inputTokens: 100, outputTokens: 20, totalTokens: 120, cacheReadInputTokens: 7 };
  const texts = ['There ', 'are ', 'three.'].map((text) => ({
    contentBlockDelta: { contentBlockIndex: 0, delta: { text } },
  }));

  it('sends Converse to the admitted model and settles its usage', async () => {
    fake.reply({ body: { output: { message: { role: 'assistant', content: [{ text: 'Three.' }] } }, usage } });
    const reply = await bedrock.send(new ConverseCommand(conversation));
    expect(reply.output?.message?.content).toEqual([{ text: 'Three.' }]);
    expect(fake.requests.map(({ path }) => path)).toEqual([`/model/${premium}/converse`]);
    // Cached tokens have no price of their own here, so they count as input.
    expect(await cost()).toBe('107/20');
    expect(requests.map(({ estimate }) => estimate)).toEqual([{ inputTokens: 12, maxOutputTokens: 300 }]);
  });

  it('settles the usage of ConverseStream when the stream has ended', async () => {
    fake.reply({ events: [{ messageStart: { role: 'assistant' } }, ...texts, { metadata: { usage, metrics: {} } }] });
    const { stream } = await bedrock.send(new ConverseStreamCommand(conversation));
    let text = '';
    for await (const event of stream ?? []) text += event.contentBlockDelta?.delta?.text ?? '';
    expect(text).toBe('There are three.');
    expect(await cost()).toBe('107/20');
  });

  it('settles a stream that the reader closes as estimated', async () => {
    fake.reply({ events: texts, after: 'hang' });
    const { stream } = await bedrock.send(new ConverseStreamCommand(conversation));
    for await (const event of stream ?? []) if (event.contentBlockDelta?.delta?.text === 'three.') break;
    expect(await cost()).toBe('12/6 ~ !');
  });

  it('settles a stream that is aborted or breaks as estimated', async () => {
    const abort = new AbortController();
    fake.reply({ events: texts, after: 'hang' });
    const { stream } = await bedrock.send(new ConverseStreamCommand(conversation), { abortSignal: abort.signal });
    const read = async () => {
      for await (const _ of stream ?? []) abort.abort();
    };
    await expect(read()).rejects.toThrow();
    expect(await cost()).toMatch(/^12\/\d ~ !$/);
  });

  it.each([
    ['Anthropic', { usage: { input_tokens: 10, output_tokens: 3, cache_read_input_tokens: 4 } }, {}],
    ['Titan', { inputTextTokenCount: 14, results: [{ tokenCount: 3, outputText: 'a' }] }, {}],
    [
      'Cohere, by the headers',
      { generations: [] },
      { 'x-amzn-bedrock-input-token-count': '14', 'x-amzn-bedrock-output-token-count': '3' },
    ],
  ])('settles the usage of InvokeModel: %s', async (_model, body, headers) => {
    fake.reply({ body, headers });
    const reply = await bedrock.send(new InvokeModelCommand(invocation));
    expect(JSON.parse(reply.body.transformToString())).toEqual(body);
    expect(fake.requests.map(({ path }) => path)).toEqual([`/model/${premium}/invoke`]);
    expect(await cost()).toBe('14/3');
  });

  it('estimates the usage of a model that does not tell it', async () => {
    fake.reply({ body: { generations: [{ text: 'There are three.' }] } });
    await bedrock.send(new InvokeModelCommand(invocation));
    expect(await cost()).toMatch(/^1[2-9]\/\d+ ~$/);
  });

  const claude = [
    chunkOf({ type: 'message_start', message: { usage: { input_tokens: 10, cache_read_input_tokens: 4 } } }),
    chunkOf({ type: 'content_block_delta', delta: { type: 'text_delta', text: 'Three.' } }),
  ];

  it('settles the usage of InvokeModelWithResponseStream', async () => {
    const metrics = { inputTokenCount: 10, outputTokenCount: 3, cacheReadInputTokenCount: 4 };
    const end = chunkOf({ type: 'message_stop', 'amazon-bedrock-invocationMetrics': metrics });
    fake.reply({ events: [...claude, chunkOf({ type: 'message_delta', usage: { output_tokens: 3 } }), end] });
    const { body } = await bedrock.send(new InvokeModelWithResponseStreamCommand(invocation));
    let chunks = 0;
    for await (const _ of body ?? []) chunks++;
    expect(chunks).toBe(4);
    expect(await cost()).toBe('14/3');
  });

  it('keeps the exact input of a stream that is closed', async () => {
    fake.reply({ events: claude, after: 'break' });
    const { body } = await bedrock.send(new InvokeModelWithResponseStreamCommand(invocation));
    const read = async () => {
      for await (const _ of body ?? []);
    };
    await expect(read()).rejects.toThrow();
    expect(await cost()).toBe('14/2 ~ !');
  });

  it('cancels a call that Bedrock refuses, and settles one that may have run as estimated', async () => {
    fake.reply({ status: 429, headers: { 'x-amzn-errortype': 'ThrottlingException' }, body: { message: 'slow down' } });
    await expect(bedrock.send(new ConverseCommand(conversation))).rejects.toThrow('slow down');
    expect(await cost()).toBe('0/0 !');
    fake.reply({ status: 500, headers: { 'x-amzn-errortype': 'InternalServerException' }, body: { message: 'oops' } });
    await expect(bedrock.send(new ConverseCommand(conversation))).rejects.toThrow('oops');
    expect(await cost()).toBe('12/0 ~ !');
  });

  it('sends nothing if Tollgate refuses', async () => {
    await expect(meterBedrock(newBedrock(), broke).send(new ConverseCommand(conversation))).rejects.toBeInstanceOf(
      QuotaExceeded,
    );
    expect(fake.requests).toEqual([]);
  });

  it('runs the code of the guide', async () => {
    fake.reply({ body: { output: { message: { role: 'assistant', content: [{ text: 'Three.' }] } }, usage } });
    expect(await ask(bedrockOfGuide(stage.tollgate, config()), hello)).toBe('Three.');
    expect(await cost()).toBe('107/20');
  });

  it('does not meter commands that cost nothing', async () => {
    fake.reply({ body: { inputTokens: 3 } });
    await bedrock.send(new CountTokensCommand({ modelId: 'any', input: { converse: conversation } }));
    expect(requests).toEqual([]);
  });
});

describe('openai', () => {
  let fake: FakeModels;
  let openai: OpenAI;
  beforeAll(async () => {
    fake = await startFakeOpenAi();
    openai = meterOpenAi(newOpenAi(), tollgate);
  });
  afterAll(() => fake.stop());
  afterEach(() => {
    fake.requests.length = 0;
  });

  const options = () => ({ apiKey: 'k', baseURL: `${fake.url}/v1`, maxRetries: 0 });
  const newOpenAi = () => new OpenAI(options());
  const chat = { model: 'any', messages: [{ role: 'user' as const, content: hello }], max_completion_tokens: 300 };
  const usage = { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 };
  const completion = { id: 'c', choices: [{ index: 0, message: { role: 'assistant', content: '{"r":3}' } }], usage };
  const deltas = ['There ', 'are ', 'three.'].map((content) => ({
    choices: [{ index: 0, delta: { content } }],
    usage: null,
  }));
  const last = { choices: [], usage };

  it('sends a chat completion to the admitted model and settles its usage', async () => {
    fake.reply({ body: completion });
    const reply = await openai.chat.completions.create(chat);
    expect(reply.choices[0]?.message.content).toBe('{"r":3}');
    expect(fake.requests.map(({ body }) => [body.model, body.stream_options])).toEqual([[premium, undefined]]);
    expect(await cost()).toBe('100/20');
    expect(requests.map(({ estimate }) => estimate)).toEqual([{ inputTokens: 12, maxOutputTokens: 300 }]);
  });

  it('asks for the usage of a stream, and hides the chunk that the caller has not asked for', async () => {
    fake.reply({ events: [...deltas, last] });
    const stream = await openai.chat.completions.create({ ...chat, stream: true });
    const chunks: unknown[] = [];
    for await (const chunk of stream) chunks.push(chunk.choices[0]?.delta.content);
    expect(chunks).toEqual(['There ', 'are ', 'three.']);
    expect(fake.requests[0]?.body.stream_options).toEqual({ include_usage: true });
    expect(await cost()).toBe('100/20');
  });

  it('passes on the usage chunk that the caller has asked for', async () => {
    fake.reply({ events: [...deltas, last] });
    const stream_options = { include_usage: true };
    const stream = await openai.chat.completions.create({ ...chat, stream: true, stream_options });
    const usages: unknown[] = [];
    for await (const chunk of stream) usages.push(chunk.usage);
    expect(usages).toEqual([null, null, null, usage]);
  });

  it('settles a stream that the reader closes, aborts or never reads as estimated', async () => {
    fake.reply({ events: deltas, after: 'hang' });
    const open = () => openai.chat.completions.create({ ...chat, stream: true });
    for await (const chunk of await open()) if (chunk.choices[0]?.delta.content === 'three.') break;
    expect(await cost()).toBe('12/6 ~ !');
    (await open()).controller.abort();
    expect(await cost()).toBe('12/0 ~ !');
  });

  it('settles Responses, with and without a stream', async () => {
    const used = {
      input_tokens: 100,
      output_tokens: 20,
      input_tokens_details: { cached_tokens: 40 },
      output_tokens_details: { reasoning_tokens: 5 },
    };
    const request = { model: 'any', input: hello, max_output_tokens: 300 };
    fake.reply({ body: { id: 'r', output: [], usage: used } });
    await openai.responses.create(request);
    expect(await cost()).toBe('100/20');
    const events = [
      { type: 'response.output_text.delta', delta: 'Three.' },
      { type: 'response.completed', response: { usage: used } },
    ];
    fake.reply({ events });
    const types: string[] = [];
    for await (const { type } of await openai.responses.create({ ...request, stream: true })) types.push(type);
    expect(types).toEqual(events.map(({ type }) => type));
    expect(await cost()).toBe('100/20');
    expect(requests.map(({ estimate }) => estimate.maxOutputTokens)).toEqual([300, 300]);
  });

  it('settles embeddings', async () => {
    fake.reply({ body: { data: [{ embedding: [0.5] }], usage: { prompt_tokens: 9, total_tokens: 9 } } });
    await openai.embeddings.create({ model: 'any', input: [hello], encoding_format: 'float' });
    expect(await cost()).toBe('9/0');
    expect(requests.map(({ estimate }) => estimate.maxOutputTokens)).toEqual([0]);
  });

  it('keeps the helpers of the client', async () => {
    fake.reply({ body: completion, headers: { 'x-request-id': 'req_1' } });
    const { data, request_id } = await openai.chat.completions.create(chat).withResponse();
    expect([data.id, request_id]).toEqual(['c', 'req_1']);
    const parsed = await openai.chat.completions.parse({ ...chat, response_format: { type: 'json_object' } });
    expect(parsed.choices[0]?.message.content).toBe('{"r":3}');
    const first = { choices: [{ index: 0, delta: { role: 'assistant' } }] };
    const end = { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] };
    fake.reply({ events: [first, ...deltas, end, last] });
    expect(await openai.chat.completions.stream(chat).finalContent()).toBe('There are three.');
    fake.reply({ body: completion });
    await openai.withOptions({ timeout: 5000 }).chat.completions.create(chat);
    await until('all calls are settled', () => stage.openCalls === 0);
    expect(stage.costs.slice(before).map(({ costUsdMicros }) => costUsdMicros)).toEqual([120, 120, 120, 120]);
  });

  it('runs the code of the guide', async () => {
    fake.reply({ events: [...deltas, last] });
    let text = '';
    for await (const part of answer(openAiOfGuide(stage.tollgate, options()), hello)) text += part;
    expect(text).toBe('There are three.');
    expect(await cost()).toBe('100/20');
  });

  it('cancels a call that the provider refuses, and sends nothing if Tollgate refuses', async () => {
    fake.reply({ status: 400, body: { error: { message: 'no such model' } } });
    await expect(openai.chat.completions.create(chat)).rejects.toThrow('no such model');
    expect(await cost()).toBe('0/0 !');
    fake.requests.length = 0;
    const refused = meterOpenAi(newOpenAi(), broke).chat.completions;
    await expect(refused.create(chat)).rejects.toBeInstanceOf(QuotaExceeded);
    await expect(refused.create(chat).withResponse()).rejects.toBeInstanceOf(QuotaExceeded);
    expect(fake.requests).toEqual([]);
  });
});

describe('ai-sdk', () => {
  const usage = {
    inputTokens: { total: 100, noCache: 93, cacheRead: 7, cacheWrite: undefined },
    outputTokens: { total: 20, text: 20, reasoning: undefined },
  };
  const finishReason = { unified: 'stop' as const, raw: undefined };
  const finish = { type: 'finish' as const, finishReason, usage };
  const deltas = ['There ', 'are ', 'three.'].map((delta) => ({ type: 'text-delta' as const, id: '1', delta }));
  const opening = [
    { type: 'stream-start' as const, warnings: [] },
    { type: 'text-start' as const, id: '1' },
  ];
  /** A provider whose models answer with their own id. */
  const provider = (modelId: string) =>
    new MockLanguageModelV3({
      modelId,
      doGenerate: { content: [{ type: 'text', text: modelId }], finishReason, usage, warnings: [] },
      doStream: {
        stream: convertArrayToReadableStream([...opening, ...deltas, { type: 'text-end', id: '1' }, finish]),
      },
    });
  const metered = (model = provider('any')) =>
    wrapLanguageModel({ model, middleware: tollgateMiddleware(tollgate, { model: provider }) });
  const request = { prompt: hello, maxOutputTokens: 300, maxRetries: 0 };

  it('calls the admitted model and settles its usage', async () => {
    const { text } = await generateText({ model: metered(), ...request });
    expect(text).toBe(premium);
    expect(await cost()).toBe('100/20');
    expect(requests.map(({ estimate }) => estimate)).toEqual([{ inputTokens: 12, maxOutputTokens: 300 }]);
  });

  it('settles the usage of a stream when it has ended', async () => {
    expect(await streamText({ model: metered(), ...request }).text).toBe('There are three.');
    expect(await cost()).toBe('100/20');
  });

  /** A model whose stream stays open after its text, until it is aborted. */
  const hanging = () =>
    new MockLanguageModelV3({
      modelId: premium,
      doStream: async ({ abortSignal }) => ({
        stream: new ReadableStream({
          start: (controller) => {
            for (const part of [...opening, ...deltas]) controller.enqueue(part);
            abortSignal?.addEventListener('abort', () => controller.error(abortSignal.reason));
          },
        }),
      }),
    });
  const unrouted = (model: MockLanguageModelV3) =>
    wrapLanguageModel({ model, middleware: tollgateMiddleware(tollgate) });

  it('settles a stream that is aborted as estimated', async () => {
    const abort = new AbortController();
    const { textStream } = streamText({ model: unrouted(hanging()), ...request, abortSignal: abort.signal });
    for await (const text of textStream) if (text === 'three.') abort.abort();
    expect(await cost()).toBe('12/6 ~ !');
  });

  it('settles a stream that is cancelled as estimated', async () => {
    const prompt = [{ role: 'user' as const, content: [{ type: 'text' as const, text: hello }] }];
    const { stream } = await unrouted(hanging()).doStream({ prompt });
    const reader = stream.getReader();
    for (let part = await reader.read(); !part.done; part = await reader.read())
      if (part.value.type === 'text-delta' && part.value.delta === 'three.') break;
    await reader.cancel();
    expect(await cost()).toBe('12/6 ~ !');
  });

  it('refuses to call another model than the admitted one', async () => {
    const model = provider('gpt-5');
    await expect(generateText({ model: unrouted(model), ...request })).rejects.toThrow('pass the option `model`');
    expect(model.doGenerateCalls).toEqual([]);
    expect(await cost()).toBe('0/0 !');
  });

  it('costs nothing if the model cannot be made, or if the caller aborts before the call', async () => {
    const unmade = tollgateMiddleware(tollgate, {
      model: () => {
        throw new Error('no such model');
      },
    });
    const model = provider('any');
    await expect(generateText({ model: wrapLanguageModel({ model, middleware: unmade }), ...request })).rejects.toThrow(
      'no such model',
    );
    expect(await cost()).toBe('0/0 !');
    const abort = new AbortController();
    const late: Admits = {
      spend: {
        admit: async (each) => {
          const open = await tollgate.spend.admit(each);
          abort.abort();
          return open;
        },
      },
    };
    const aborted = wrapLanguageModel({ model, middleware: tollgateMiddleware(late, { model: () => model }) });
    await expect(generateText({ model: aborted, ...request, abortSignal: abort.signal })).rejects.toThrow('abort');
    expect(await cost()).toBe('0/0 !');
    expect(model.doGenerateCalls).toEqual([]);
  });

  it('takes options per call', async () => {
    const call = () => ({ estimate: { maxOutputTokens: 50 }, dimensions: { user: 'ana' } });
    const middleware = tollgateMiddleware(tollgate, { model: provider, labels: ['premium'], call });
    await generateText({ model: wrapLanguageModel({ model: provider('any'), middleware }), ...request });
    expect(requests[0]).toMatchObject({
      labels: ['premium'],
      estimate: { inputTokens: 12, maxOutputTokens: 50 },
      dimensions: { user: 'ana' },
    });
  });

  it('calls no model if Tollgate refuses', async () => {
    const model = provider('any');
    const middleware = tollgateMiddleware(broke);
    await expect(generateText({ model: wrapLanguageModel({ model, middleware }), ...request })).rejects.toBeInstanceOf(
      QuotaExceeded,
    );
    expect(model.doGenerateCalls).toEqual([]);
  });

  it('runs the code of the guide', async () => {
    const guided = new TestTollgate({ models: [{ label: 'premium' }, { label: 'economy' }] });
    expect((await summarize(newModel(guided.tollgate, provider), hello)).text).toBe('premium');
    expect(guided.costs).toMatchObject([{ label: 'premium', costUsdMicros: 120, dimensions: { feature: 'summary' } }]);
  });
});

describe('usage', () => {
  it('runs the code of the guide', async () => {
    const message = { usage: { input_tokens: 10, output_tokens: 3, cache_read_input_tokens: 4 } };
    expect(await meterAnthropic(stage.tollgate, async () => message)).toBe(message);
    expect(await cost()).toBe('14/3');
    expect(await meterAnthropic(broke, async () => message)).toBeUndefined();
  });
});
