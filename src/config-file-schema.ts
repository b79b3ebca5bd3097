import { z } from 'zod';
import { slug } from './lib/patterns.js';
import { isOneLine } from './lib/text.js';
import { maxLabels } from './spend/catalog/catalog.js';
import { maxDescriptionChars, maxFactChars, maxModelIdChars } from './spend/catalog/catalog-input.js';
import { entriesIssues, maxEntriesPerPrice, tokenEntries } from './spend/catalog/price.js';

const text = z.string().trim().min(1);
const micros = z.number().int().min(0).max(1e12);
const days = z.number().int().min(1).max(3650);
const count = z.number().int().min(1);
const intervalSecs = z.number().int().min(1).max(3600);

/** A path or URL; anything else that looks like a URL is a mistake. */
function isPriceSource(source: string): boolean {
  if (!/^[a-z][a-z0-9+.-]*:\/\//i.test(source)) return true;
  return URL.canParse(source) && (/^https?:/i.test(source) || /^file:\/\/\//i.test(source));
}

const line = (max: number) => text.max(max).refine(isOneLine, 'must not contain control or text-direction characters');
const modelId = line(maxModelIdChars);

const priceEntry = z.strictObject({
  name: z.string(),
  usdMicrosPer1M: z.number(),
  above: z.number().default(0),
});

const model = z
  .strictObject({
    modelId: modelId.optional().meta({
      description:
        'Model id at its provider. `modelSelection` returns it; the price list is keyed by it. Required unless ' +
        '`bedrockModelId` is set.',
      values: `1 to ${maxModelIdChars} characters`,
    }),
    bedrockModelId: modelId.optional().meta({
      description: 'Alias for `modelId`.',
      values: `1 to ${maxModelIdChars} characters`,
    }),
    provider: line(maxFactChars).optional().meta({ description: 'Provider for display.', values: 'text' }),
    tier: line(maxFactChars)
      .optional()
      .meta({ description: 'Tier for display, for example `premium`.', values: 'text' }),
    family: line(maxFactChars).optional().meta({ description: 'Model family for display.', values: 'text' }),
    description: line(maxDescriptionChars).optional().meta({ description: 'Description for display.', values: 'text' }),
    inputUsdMicrosPer1M: micros.meta({
      description: 'Default price in micro-dollars per million input tokens.',
    }),
    outputUsdMicrosPer1M: micros.meta({
      description: 'Default price in micro-dollars per million output tokens.',
    }),
    prices: z
      .array(priceEntry)
      .optional()
      .meta({
        description:
          'Default prices of components and tiers, each `{ name, usdMicrosPer1M, above }`, for example `{ name: ' +
          'cacheRead, usdMicrosPer1M: 300000 }`.',
        values: `up to ${maxEntriesPerPrice - 2} entries`,
      }),
  })
  .superRefine(({ modelId: id, bedrockModelId, inputUsdMicrosPer1M, outputUsdMicrosPer1M, prices = [] }, check) => {
    if ((id === undefined) === (bedrockModelId === undefined))
      check.addIssue({ code: 'custom', path: ['modelId'], message: 'set either modelId or bedrockModelId' });
    const entries = [...prices, ...tokenEntries(inputUsdMicrosPer1M, outputUsdMicrosPer1M)];
    for (const { path, message } of entriesIssues(entries, 'prices'))
      check.addIssue({ code: 'custom', path: path.split('.'), message });
  });

/** Schema of `config.yaml`. `docs/configuration.md` is generated from its metadata; see `config-env-schema.ts`. */
export const fileSchema = z.strictObject({
  models: z
    .record(
      z.string().regex(slug, 'a label must have 1 to 64 characters of a-z 0-9 . _ - and begin with a letter or digit'),
      model,
    )
    .refine((models) => Object.keys(models).length > 0, 'must have at least one label')
    .refine((models) => Object.keys(models).length <= maxLabels, `must have at most ${maxLabels} labels`)
    .meta({
      description:
        'Labels that are added to the catalog once, when a process starts and the catalog does not have them, at ' +
        'least one. Later changes here change nothing: use `upsertModel` and `retireModel`. A label has 1 to 64 ' +
        'characters of `a-z 0-9 . _ -` and begins with a letter or digit. The default prices apply to models that ' +
        'the price list has never contained.',
    }),
  login: z
    .strictObject({
      perAddressPerMinute: count.meta({
        description:
          'Max failed attempts per address: the burst, and the number that refills per minute. Further failures ' +
          'are `RATE_LIMITED`. An IPv6 /64 network counts as one address.',
      }),
    })
    .meta({ description: 'Failed logins, token refreshes, secret retrievals and wrong keys.' }),
  aggregation: z
    .strictObject({
      intervalSecs: intervalSecs.meta({
        description:
          'Seconds between two rounds of the worker over all open days. `AGGREGATION_INTERVAL_SECS` overrides it.',
      }),
      nearIntervalSecs: intervalSecs.meta({
        description:
          'Seconds between two rounds over scopes that are near a quota. Ignored if not less than `intervalSecs`.',
      }),
    })
    .meta({ description: 'How often the worker sums costs into daily totals.' }),
  submissions: z
    .strictObject({
      maxWaiting: count.meta({
        description:
          'Max costs, and max acquires, that wait for DynamoDB in one gateway process. More fail at once with ' +
          '`SERVICE_UNAVAILABLE`. One org gets at most half.',
      }),
    })
    .meta({ description: 'Write queues of a gateway.' }),
  devices: z
    .strictObject({
      maxPerOrg: count.max(1e9).meta({ description: 'Max devices per org.' }),
      newPerKeyPerMinute: count.max(1e9).meta({
        description:
          'Max new devices per minute that one device key or client may register through one gateway process.',
      }),
    })
    .default({ maxPerOrg: 100_000, newPerKeyPerMinute: 600 })
    .meta({ description: 'Limits for devices. The section may be left out; the shipped values then apply.' }),
  prices: z
    .strictObject({
      source: text.refine(isPriceSource, 'must be a path, a file:// URL without a host, or an http(s) URL').meta({
        description:
          'The price list: a path (relative to this file), a `file:///` URL or an http(s) URL of JSON `{"<model ' +
          'id>": {"inputUsdMicrosPer1M": …, "outputUsdMicrosPer1M": …}}`, or LiteLLM\'s ' +
          '`model_prices_and_context_window.json`. At most 8 MB. The worker reads it once per hour. A changed price ' +
          'applies from then on. The last known price applies while the list cannot be read.',
        values: 'path or URL',
      }),
    })
    .optional()
    .meta({ description: 'Source of model prices. If the section is left out, the default prices of `models` apply.' }),
  retention: z
    .strictObject({
      auditDays: days.meta({ description: 'Audit events.' }),
      requestDays: days.meta({
        description: 'Request items of `submitCost`. A `requestId` that is sent again later counts as a new cost.',
      }),
      shardDays: days.meta({
        description: 'Cost shards. `EXACT` reads and late summing work for this long.',
      }),
      totalDays: days.meta({
        description: 'Daily totals, which `spendHistory` reads and budgets sum. Budgets of a month need at least 31.',
      }),
      alertDays: days.meta({ description: 'Quota alerts. A cursor older than this starts with a `GAP`.' }),
      priceDays: days.meta({ description: 'Fetched prices of a day.' }),
      usageDays: days.meta({ description: 'Hourly usage of limits.' }),
      readingDays: days.meta({ description: 'Device readings.' }),
    })
    .meta({ description: 'Days to keep data. DynamoDB deletes expired items by TTL.' }),
});
