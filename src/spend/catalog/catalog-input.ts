import type { Issue } from '../../lib/errors.js';
import { slug } from '../../lib/patterns.js';
import { isOneLine } from '../../lib/text.js';
import type { ModelFacts } from './catalog.js';
import { entriesIssues } from './price.js';
import { isWithinReach, maxAheadDays, maxBackDays, type PriceInput } from './price-history.js';

export const maxModelIdChars = 256;
/** Characters of provider, tier and family. */
export const maxFactChars = 64;
export const maxDescriptionChars = 500;

export const labelIssues = (label: string, path: string): Issue[] =>
  slug.test(label) ? [] : [{ path, message: 'must be 1 to 64 of a-z 0-9 . _ - and begin with a letter or digit' }];

/** Why the facts of a model are refused. */
export function factIssues({ modelId, provider, tier, family, description }: Partial<ModelFacts>): Issue[] {
  return [
    ...textIssues('modelId', modelId, maxModelIdChars),
    ...textIssues('provider', provider, maxFactChars),
    ...textIssues('tier', tier, maxFactChars),
    ...textIssues('family', family, maxFactChars),
    ...textIssues('description', description, maxDescriptionChars),
  ];
}

function textIssues(name: string, text: string | undefined, max: number): Issue[] {
  if (text === undefined || (text.trim().length > 0 && [...text].length <= max && isOneLine(text))) return [];
  const message = `must have 1 to ${max} characters, not be blank, and have no control or text-direction characters`;
  return [{ path: `input.${name}`, message }];
}

/** Why a price, or the time from which it applies, is refused. */
export function priceIssues({ effectiveFrom, prices }: PriceInput, nowMs: number): Issue[] {
  const isReachable = !effectiveFrom || isWithinReach(effectiveFrom.getTime(), nowMs);
  const reach = `must be at most ${maxBackDays} days in the past and at most ${maxAheadDays} days ahead`;
  return [
    ...(isReachable ? [] : [{ path: 'input.effectiveFrom', message: reach }]),
    ...(prices && prices.length > 0 ? entriesIssues(prices, 'input.prices') : []),
  ];
}
