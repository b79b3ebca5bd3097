// A chat backend with the AI SDK. Each answer is admitted and paid from a daily quota of the app: first by the premium
// model, then by the economy model, then refused until the next day.
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { QuotaExceeded } from '@tollgate/client';
import { tollgateMiddleware } from '@tollgate/client/ai-sdk';
import { streamText, wrapLanguageModel } from 'ai';
import { newTenant } from '../tenant.mjs';
import { echo } from './echo-model.mjs';

const { orgId, app: tollgate } = await newTenant('Chat example', {
  quotas: [
    { label: 'premium', dailyUsdMicros: 5_000, enforcement: 'HARD' },
    { label: 'economy', dailyUsdMicros: 500, enforcement: 'HARD' },
  ],
});
// The provider gets the model id of the label that was admitted.
const model = wrapLanguageModel({ model: echo('any'), middleware: tollgateMiddleware(tollgate, { model: echo }) });

async function chat(request, response) {
  const closed = new AbortController();
  response.once('close', () => closed.abort());
  const { fullStream } = streamText({
    model,
    prompt: await text(request),
    maxOutputTokens: 200,
    abortSignal: closed.signal,
    onError: () => undefined,
  });
  for await (const part of fullStream) {
    if (part.type === 'error') return refuse(response, part.error);
    if (part.type === 'text-delta') response.write(part.text);
  }
  response.end('\n');
}

function refuse(response, error) {
  if (response.headersSent) return response.destroy();
  if (!(error instanceof QuotaExceeded)) console.error(error);
  const [status, message] =
    error instanceof QuotaExceeded
      ? [429, `The budget of today is used up; it begins anew at ${error.resetsAt?.toISOString() ?? 'midnight'}.`]
      : [502, 'The model did not answer.'];
  response.writeHead(status, { 'content-type': 'text/plain' }).end(`${message}\n`);
}

const server = createServer((request, response) => {
  chat(request, response).catch((error) => refuse(response, error));
});
server.listen(Number(process.env.PORT ?? 3000), '127.0.0.1', () => {
  console.log(`Chat backend of the org ${orgId}. Ask until the quota is used up:

curl -N http://127.0.0.1:${server.address().port}/ -d 'Hello'`);
});

process.once('SIGTERM', () => server.close(() => tollgate.close()));
