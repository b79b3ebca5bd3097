import type { Tollgate } from '@tollgate/client';
import { meterOpenAi } from '@tollgate/client/openai';
import OpenAI, { type ClientOptions } from 'openai';

export const newOpenAi = (tollgate: Tollgate, options: ClientOptions) => meterOpenAi(new OpenAI(options), tollgate);

export async function* answer(openai: OpenAI, question: string) {
  const stream = await openai.chat.completions.create({
    model: 'chosen by Tollgate',
    messages: [{ role: 'user', content: question }],
    max_completion_tokens: 500,
    stream: true,
  });
  for await (const chunk of stream) yield chunk.choices[0]?.delta.content ?? '';
}
