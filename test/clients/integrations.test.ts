import type { AddressInfo } from 'node:net';
import { serve } from '@hono/node-server';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import { QuotaExceeded, Tollgate } from '@tollgate/client';
import { limitExpress, limitFastify, limitHono } from '@tollgate/client/http';
import { MockLanguageModelV3 } from 'ai/test';
import type { Request } from 'express';
import type { FastifyRequest } from 'fastify';
import type { Context } from 'hono';
import { newApp, newOrg, startTestApp, type TestApp } from '../support/app.js';
import { ManualClock } from '../support/clock.js';
import { type FakeModels, startFakeBedrock, startFakeOpenAi } from '../support/fake-models.js';
import * as op from '../support/operations.js';
import { patience } from '../support/patience.js';
import { until } from '../support/until.js';
import { newModel, summarize } from './guide/ai-sdk.js';
import { ask, newBedrock } from './guide/bedrock.js';
import { newExpress } from './guide/express.js';
import { newFastify } from './guide/fastify.js';
import { newHono } from './guide/hono.js';
import { answer, newOpenAi } from './guide/openai.js';

const timeoutMs = 2000 * patience;

let gateway: TestApp;
let tollgate: Tollgate;
beforeAll(async () => {
  gateway = await startTestApp({ clock: new ManualClock({ frozenAtMs: Date.now() }) });
  const org = await newOrg(gateway);
  const limitsOf = (resource: string, limits: readonly op.LimitInput[]) =>
    org.caller.ask(op.SetLimitsDocument, { input: { level: 'RESOURCE', resource, limits: [...limits] } });
  await limitsOf('reports', [{ name: 'rpm', capacity: 3 }]);
  await limitsOf('jobs', [
    { name: 'rpm', capacity: 100 },
    { name: 'parallel', capacity: 1, kind: 'CONCURRENCY' },
  ]);
  const { clientId, clientSecret } = await newApp(gateway, org);
  tollgate = new Tollgate({ url: gateway.url, credentials: { clientId, clientSecret }, timeoutMs });
});
afterAll(() => gateway.stop());

/** An app with two limited routes. `/jobs` runs the job. */
interface LimitedApp {
  readonly url: string;
  readonly job: ReturnType<typeof newJob>;
  stop(): Promise<unknown>;
}

/** Work that lasts until it is finished. Later work takes no time. */
function newJob() {
  let finish = () => {};
  const finished = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const job = {
    begun: 0,
    finish: () => finish(),
    run: () => {
      job.begun++;
      return finished;
    },
  };
  return job;
}

const urlOf = (server: { address(): unknown }) => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
const jobs = { resource: 'jobs', consume: { rpm: 1, parallel: 1 } };

async function startExpress(client: Tollgate): Promise<LimitedApp> {
  const job = newJob();
  const app = newExpress(client);
  const limited = limitExpress(client, { ...jobs, entityId: (request: Request) => request.get('x-user') });
  app.get('/jobs', limited, (_request, response) => {
    void job.run().then(() => response.json({ ok: true }));
  });
  const server = app.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const stop = () => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  };
  return { url: urlOf(server), job, stop };
}

async function startFastify(client: Tollgate): Promise<LimitedApp> {
  const job = newJob();
  const app = newFastify(client);
  const entityId = ({ headers }: FastifyRequest) => headers['x-user']?.toString();
  app.get('/jobs', { preHandler: limitFastify(client, { ...jobs, entityId }) }, async () => {
    await job.run();
    return { ok: true };
  });
  const url = await app.listen({ port: 0, host: '127.0.0.1' });
  return { url, job, stop: () => app.close() };
}

async function startHono(client: Tollgate): Promise<LimitedApp> {
  const job = newJob();
  const app = newHono(client);
  const limited = limitHono(client, { ...jobs, entityId: (context: Context) => context.req.header('x-user') });
  // A response that Hono has not made.
  app.get('/jobs', limited, async () => {
    await job.run();
    return Response.json({ ok: true });
  });
  const server = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' });
  await new Promise((resolve) => server.once('listening', resolve));
  return { url: urlOf(server), job, stop: () => new Promise((resolve) => server.close(resolve)) };
}

describe.each([
  ['Express', startExpress],
  ['Fastify', startFastify],
  ['Hono', startHono],
])('%s', (framework, start) => {
  let app: LimitedApp;
  beforeAll(async () => {
    app = await start(tollgate);
  });
  afterAll(() => {
    app.job.finish();
    return app.stop();
  });

  const get = async (path: string, user?: string) => {
    const response = await fetch(app.url + path, { headers: user ? { 'x-user': `${framework}-${user}` } : {} });
    return { status: response.status, headers: response.headers, text: await response.text() };
  };
  const headersOf = ({ headers }: { headers: Headers }) =>
    ['ratelimit', 'ratelimit-policy', 'retry-after'].map((name) => headers.get(name));

  it('lets requests through up to the limit, with RateLimit headers', async () => {
    const first = await get('/reports', 'ana');
    expect([first.status, first.text]).toEqual([200, '{"ok":true}']);
    expect(headersOf(first)).toEqual(['"rpm";r=2;t=20', '"rpm";q=3;w=60', null]);
    expect(headersOf(await get('/reports', 'ana'))[0]).toBe('"rpm";r=1;t=40');
    expect((await get('/reports', 'ana')).status).toBe(200);
  });

  it('refuses the next one with 429 and Retry-After, and lets it through after that time', async () => {
    const refused = await get('/reports', 'ana');
    expect(refused.status).toBe(429);
    expect(refused.headers.get('content-type')).toContain('application/problem+json');
    expect(JSON.parse(refused.text)).toEqual({ title: 'Too many requests', status: 429, retryAfterSecs: 20 });
    expect(headersOf(refused)).toEqual(['"rpm";r=0;t=21', '"rpm";q=3;w=60', '21']);
    gateway.clock.advance(20_000);
    expect((await get('/reports', 'ana')).status).toBe(200);
  });

  it('limits each user apart, and no request without a user', async () => {
    expect((await get('/reports', 'ben')).status).toBe(200);
    const anonymous = await Promise.all(Array.from({ length: 5 }, () => get('/reports')));
    expect(anonymous.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
  });

  it('never lets more than the limit through at once', async () => {
    const all = await Promise.all(Array.from({ length: 12 }, () => get('/reports', 'cleo')));
    expect(all.filter(({ status }) => status === 200)).toHaveLength(3);
  });

  it('frees the slot of a concurrency limit when the response has ended, and keeps the tokens', async () => {
    const first = get('/jobs', 'dan');
    await until('the job has begun', () => app.job.begun === 1);
    const second = await get('/jobs', 'dan');
    expect([second.status, second.headers.get('ratelimit')]).toEqual([429, '"parallel";r=0;t=63, "rpm";r=99;t=1']);
    app.job.finish();
    expect((await first).status).toBe(200);
    let third = await get('/jobs', 'dan');
    await until('the slot is free', async () => {
      if (third.status !== 200) third = await get('/jobs', 'dan');
      return third.status === 200;
    });
    expect(third.headers.get('ratelimit')).toContain('"rpm";r=98');
  });
});

describe('a route whose Tollgate is unavailable', () => {
  it.each([
    ['refuses with 503 by default', 'throw' as const, 503],
    ['lets requests through if `onUnavailable` is `allow`', 'allow' as const, 200],
  ])('%s', async (_name, onUnavailable, status) => {
    const client = new Tollgate({ url: 'http://127.0.0.1:1/graphql', retries: 0, onUnavailable });
    const app = await startExpress(client);
    const response = await fetch(`${app.url}/reports`, { headers: { 'x-user': 'ana' } });
    expect(response.status).toBe(status);
    expect(response.headers.get('retry-after')).toBe(status === 503 ? '2' : null);
    await response.text();
    await app.stop();
  });
});

describe('model calls through a real gateway', () => {
  let bedrock: FakeModels;
  let openai: FakeModels;
  let org: Awaited<ReturnType<typeof newOrg>>;
  beforeAll(async () => {
    [bedrock, openai] = await Promise.all([startFakeBedrock(), startFakeOpenAi()]);
    org = await newOrg(gateway, {
      modelOrdering: ['premium', 'economy'],
      // A call reserves the price of 500 tokens of output: 7,500 or 625 micro-dollars.
      quotas: [
        { label: 'premium', dailyUsdMicros: 10_000, enforcement: 'HARD' },
        { label: 'economy', dailyUsdMicros: 800, enforcement: 'HARD' },
      ],
      dimensions: ['feature'],
    });
  });
  afterAll(() => Promise.all([bedrock.stop(), openai.stop()]));

  const credentials = { accessKeyId: 'a', secretAccessKey: 'b' };
  const bedrockConfig = () => ({
    endpoint: bedrock.url,
    region: 'eu-central-1',
    credentials,
    requestHandler: new NodeHttpHandler(),
  });
  const openAiOptions = () => ({ apiKey: 'k', baseURL: `${openai.url}/v1` });
  const clientOf = async (appId: string) => {
    const { clientId, clientSecret, caller } = await newApp(gateway, org, appId);
    const dead: unknown[] = [];
    const hooks = { dead: (event: unknown) => void dead.push(event) };
    const client = new Tollgate({ url: gateway.url, credentials: { clientId, clientSecret }, timeoutMs, hooks });
    const spent = async () => {
      await client.flush();
      const { me } = await caller.ask<{ me: { app: { spend: { costUsdMicros: number; requests: number } } } }, object>(
        '{ me { app { spend(consistency: EXACT) { costUsdMicros requests } } } }',
      );
      return [me.app.spend.requests, me.app.spend.costUsdMicros];
    };
    return { client, dead, spent };
  };

  it('counts each call once, at its price, with cached tokens and an aborted stream', async () => {
    const { client, dead, spent } = await clientOf('counted');
    const usage = { inputTokens: 100, outputTokens: 20, totalTokens: 127, cacheReadInputTokens: 7 };
    bedrock.reply({ body: { output: { message: { role: 'assistant', content: [{ text: 'Three.' }] } }, usage } });
    await ask(newBedrock(client, bedrockConfig()), 'How many?');
    // 107 and 20 tokens at 3 and 15 micro-dollars: the label has no price for cached tokens.
    expect(await spent()).toEqual([1, 621]);

    const delta = (content: string) => ({ choices: [{ index: 0, delta: { content } }] });
    const last = { choices: [], usage: { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 } };
    openai.reply({ events: [delta('Three.'), last] });
    for await (const _ of answer(newOpenAi(client, openAiOptions()), 'How many?'));
    expect(await spent()).toEqual([2, 1221]);

    openai.reply({ events: [delta('Three.')], after: 'hang' });
    for await (const _ of answer(newOpenAi(client, openAiOptions()), 'How many?')) break;
    // 3 estimated tokens of input, and 2 of output.
    await until('the aborted stream is settled', async () => (await spent())[0] === 3);
    expect(await spent()).toEqual([3, 1260]);

    await summarize(newModel(client, mockModel), 'a text');
    expect(await spent()).toEqual([4, 1860]);
    expect(dead).toEqual([]);
  });

  const mockModel = (modelId: string) =>
    new MockLanguageModelV3({
      modelId,
      doGenerate: {
        content: [{ type: 'text', text: modelId }],
        finishReason: { unified: 'stop', raw: undefined },
        usage: {
          inputTokens: { total: 100, noCache: 100, cacheRead: 0, cacheWrite: 0 },
          outputTokens: { total: 20, text: 20, reasoning: 0 },
        },
        warnings: [],
      },
    });

  it('falls back to the next label and then refuses, when hard quotas are used up', async () => {
    const { client, spent } = await clientOf('refused');
    const model = newModel(client, mockModel);
    const texts: string[] = [];
    const run = async () => {
      for (let i = 0; i < 50; i++) texts.push((await summarize(model, 'a text')).text);
    };
    await expect(run()).rejects.toBeInstanceOf(QuotaExceeded);
    expect([...new Set(texts)].map((text) => /sonnet|haiku/.exec(text)?.[0])).toEqual(['sonnet', 'haiku']);
    expect((await spent())[0]).toBe(texts.length);
  });
});
