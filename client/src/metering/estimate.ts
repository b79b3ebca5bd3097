import { count, object } from '../usage/components.js';

/** A token is rarely shorter than three bytes of UTF-8, in any language. An estimate should not be too low. */
const bytesPerToken = 3;
/** An image, a page or another attachment counts as 1,600 tokens. */
const bytesPerAttachment = 1600 * bytesPerToken;
/** A data URL, or base64 without white space. Its length says nothing about tokens. */
const attachment = /^(?:data:[^,]{0,100};base64,|[A-Za-z0-9+/_-]{1024})/;
/** Fields of messages and events that are no text. */
const notText = new Set(['type', 'role', 'id']);
const maxDepth = 32;
/** Bounds the estimate if a request has no maximum. */
export const defaultMaxOutputTokens = 4096;

const utf8 = new TextEncoder();

/** Bytes of all texts in a value. A number counts as one token, because a request may have tokens in place of text. */
export function textBytes(value: unknown, depth = 0): number {
  if (typeof value === 'string') return attachment.test(value) ? bytesPerAttachment : utf8.encode(value).length;
  if (typeof value === 'number') return bytesPerToken;
  if (typeof value !== 'object' || value === null || depth === maxDepth) return 0;
  if (ArrayBuffer.isView(value)) return bytesPerAttachment;
  let sum = 0;
  for (const [name, part] of Object.entries(value)) if (!notText.has(name)) sum += textBytes(part, depth + 1);
  return sum;
}

export const tokensOfBytes = (bytes: number): number => Math.ceil(bytes / bytesPerToken);

/** The estimate of a request: its texts, and the first of its fields that bounds the output. */
export const estimateOf = (input: unknown, ...maxOutput: readonly unknown[]): TokenEstimate => ({
  inputTokens: tokensOfBytes(textBytes(input)),
  maxOutputTokens: maxOutput.map(count).find((tokens) => tokens > 0) ?? defaultMaxOutputTokens,
});

/** An estimate in tokens. */
export interface TokenEstimate {
  readonly inputTokens: number;
  readonly maxOutputTokens: number;
}

/** The estimate of a body of InvokeModel. Each family of models has its own name for the maximum. */
export function estimateOfBody(body: unknown): TokenEstimate {
  const fields = object(body);
  const nova = object(fields.inferenceConfig);
  return estimateOf(
    body,
    fields.max_tokens,
    fields.max_completion_tokens,
    fields.max_gen_len,
    fields.max_tokens_to_sample,
    nova.maxTokens,
    nova.max_new_tokens,
    object(fields.textGenerationConfig).maxTokenCount,
  );
}
