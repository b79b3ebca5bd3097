import { estimateOf, estimateOfBody, textBytes } from '../../../client/src/metering/estimate.js';

describe('the estimate of a request', () => {
  it('counts three bytes of text as a token, and fields that are no text not at all', () => {
    const messages = [{ type: 'message', role: 'user', id: 'm1', content: [{ type: 'text', text: '123456' }] }];
    expect(estimateOf({ messages, system: 'äöü' }, 100)).toEqual({ inputTokens: 4, maxOutputTokens: 100 });
  });

  it('counts an attachment as 1,600 tokens, whatever its size', () => {
    const attachments = [new Uint8Array(9), `data:image/png;base64,${'A'.repeat(9)}`, 'QUJD'.repeat(10_000)];
    for (const attachment of attachments) expect(estimateOf({ attachment }).inputTokens).toBe(1600);
    expect(estimateOf({ text: 'a b '.repeat(10_000) }).inputTokens).toBe(13_334);
  });

  it('counts tokens that are sent as numbers', () => {
    expect(estimateOf([1, 2, 3]).inputTokens).toBe(3);
  });

  it('ends for a value that contains itself', () => {
    const loop: unknown[] = ['abc'];
    loop.push(loop);
    expect(textBytes(loop)).toBe(3 * 32);
  });

  it('bounds the output if the request does not', () => {
    expect(estimateOf('', undefined, null, 0, 'x').maxOutputTokens).toBe(4096);
    expect(estimateOf('', undefined, 7, 8).maxOutputTokens).toBe(7);
  });

  it.each([
    ['Claude, Mistral, Cohere', { max_tokens: 9 }],
    ['gpt-oss', { max_completion_tokens: 9 }],
    ['Llama', { max_gen_len: 9 }],
    ['Nova', { inferenceConfig: { maxTokens: 9 } }],
    ['Nova, older', { inferenceConfig: { max_new_tokens: 9 } }],
    ['Titan', { textGenerationConfig: { maxTokenCount: 9 } }],
  ])('finds the bound of the output: %s', (_family, body) => {
    expect(estimateOfBody(body).maxOutputTokens).toBe(9);
  });
});
