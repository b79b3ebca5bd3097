import { maxUsdMicrosPer1M, type PriceEntry } from './price.js';

/**
 * The names of prices in LiteLLM's file (`model_prices_and_context_window.json`), and those in a catalog. If two name
 * the same component, the first that a model has applies. Prices of service tiers (`_flex`, `_priority`, `_batches`)
 * are not read: a label stands for one way to call a model.
 */
const names: readonly (readonly [field: string, name: string])[] = [
  ['input_cost_per_token', 'input'],
  ['output_cost_per_token', 'output'],
  ['cache_read_input_token_cost', 'cacheRead'],
  ['input_cost_per_token_cache_hit', 'cacheRead'],
  ['cache_creation_input_token_cost', 'cacheWrite5m'],
  ['cache_creation_input_token_cost_above_1hr', 'cacheWrite1h'],
  ['output_cost_per_reasoning_token', 'reasoning'],
  ['output_cost_per_image', 'image'],
  ['input_cost_per_image', 'image'],
  ['input_cost_per_audio_per_second', 'audioSecond'],
  ['input_cost_per_second', 'audioSecond'],
  ['output_cost_per_second', 'outputSecond'],
  ['input_cost_per_video_per_second', 'videoSecond'],
  ['output_cost_per_video_per_second', 'outputVideoSecond'],
  ['input_cost_per_request', 'request'],
  ['input_cost_per_query', 'query'],
  ['ocr_cost_per_page', 'page'],
  ['annotation_cost_per_page', 'annotatedPage'],
  ['input_cost_per_audio_token', 'inputAudio'],
  ['output_cost_per_audio_token', 'outputAudio'],
  ['cache_read_input_audio_token_cost', 'cacheReadAudio'],
  ['cache_creation_input_audio_token_cost', 'cacheWriteAudio'],
  ['input_cost_per_image_token', 'inputImageToken'],
  ['output_cost_per_image_token', 'outputImageToken'],
  ['input_cost_per_pixel', 'inputPixel'],
  ['output_cost_per_pixel', 'outputPixel'],
  ['input_cost_per_character', 'inputCharacter'],
  ['output_cost_per_character', 'outputCharacter'],
  ['citation_cost_per_token', 'citation'],
];
const nameOf = new Map(names);
/** A model with a price for images made and for images read has both. */
const imageRead = ['input_cost_per_image', 'output_cost_per_image', 'inputImage'] as const;
const tier = /^(.+)_above_(\d{1,9})(k?)_tokens$/;

type LiteLlmFields = Readonly<Record<string, unknown>>;

/** The prices of one model, and what is wrong with some of them. */
export interface LiteLlmPrices {
  readonly entries: readonly PriceEntry[];
  readonly faults: readonly string[];
}

/** Reads the entry of a model in LiteLLM's format. */
export function liteLlmPrices(model: LiteLlmFields): LiteLlmPrices {
  const found = new Map<string, PriceEntry>();
  const faults: string[] = [];
  const add = (fields: LiteLlmFields, above: number): void => {
    const ranked = Object.entries(fields).sort(([a], [b]) => rankOf(a) - rankOf(b));
    for (const [field, value] of ranked) {
      const price = priceIn(field, fields);
      if (!price || value === null || value === undefined) continue;
      const entry = { name: price.name, above: price.above || above };
      const key = `${entry.name} ${entry.above}`;
      const micros = microsPer1M(value);
      if (typeof micros === 'string') faults.push(`${field}: ${micros}`);
      else if (!found.has(key)) found.set(key, { ...entry, usdMicrosPer1M: micros });
    }
  };
  add(model, 0);
  for (const part of tiersOf(model)) add(part.fields, part.above);
  if (found.size === 0 && faults.length === 0) faults.push('has no price that Tollgate knows');
  return { entries: [...found.values()], faults };
}

const rankOf = (field: string): number => {
  const base = tier.exec(field)?.[1] ?? field;
  return names.findIndex(([name]) => name === base);
};

/** The component that a field prices, and above how many tokens. Undefined if it is not a price that is read. */
function priceIn(field: string, fields: LiteLlmFields): { readonly name: string; readonly above: number } | undefined {
  const [, base = field, digits = '0', thousands] = tier.exec(field) ?? [];
  const [read, made, name] = imageRead;
  const component = base === read && Object.hasOwn(fields, made) ? name : nameOf.get(base);
  return component === undefined
    ? undefined
    : { name: component, above: Number(digits) * (thousands === 'k' ? 1000 : 1) };
}

/** The parts of `tiered_pricing`: each prices the whole call if its input is in a range of tokens. */
function tiersOf({
  tiered_pricing: tiers,
}: LiteLlmFields): { readonly fields: LiteLlmFields; readonly above: number }[] {
  if (!Array.isArray(tiers)) return [];
  return tiers.flatMap((part: { range?: unknown } | null) => {
    const [from] = Array.isArray(part?.range) ? part.range : [];
    return Number.isSafeInteger(from) && from >= 0 ? [{ fields: part as LiteLlmFields, above: from as number }] : [];
  });
}

const decimal = /^(\d{1,20})(?:\.(\d{1,40}))?(?:e([+-]?\d{1,3}))?$/i;
/** Dollars per unit to micro-dollars per million units. */
const shift = 12;

/** Exact, because the digits are shifted and not multiplied. Returns what is wrong if it is not a price. */
export function microsPer1M(value: unknown): number | string {
  const [, whole = '', fraction = '', exponent = '0'] = decimal.exec(String(value).trim()) ?? [];
  if (whole === '' || (typeof value !== 'number' && typeof value !== 'string')) return 'is not a price in dollars';
  const digits = BigInt(whole + fraction);
  const places = Number(exponent) + shift - fraction.length;
  if (places > 40) return digits === 0n ? 0 : tooHigh;
  const divisor = places < 0 ? 10n ** BigInt(-places) : 1n;
  const scaled = places < 0 ? digits : digits * 10n ** BigInt(places);
  const micros = (2n * scaled + divisor) / (2n * divisor);
  if (micros > BigInt(maxUsdMicrosPer1M)) return tooHigh;
  return micros === 0n && digits > 0n ? 'is less than half a micro-dollar per million' : Number(micros);
}

const tooHigh = `is more than ${maxUsdMicrosPer1M} micro-dollars per million`;
