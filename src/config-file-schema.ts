import { z } from 'zod';
import { slug } from './lib/patterns.js';

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

const model = z.strictObject({
  bedrockModelId: text
    .max(256)
    .regex(/^[^#/\s\p{Cc}]+$/u, 'must not contain spaces, control characters, # or /')
    .meta({
      description: 'Model id of Amazon Bedrock. `modelSelection` returns it; the price list is keyed by it.',
      values: '1 to 256 characters without spaces, `#` or `/`',
    }),
  tier: text.optional().meta({ description: 'Tier for display, for example `premium`.', values: 'text' }),
  family: text.optional().meta({ description: 'Model family for display.', values: 'text' }),
  description: text.optional().meta({ description: 'Description for display.', values: 'text' }),
  inputUsdMicrosPer1M: micros.meta({
    description: 'Default price in micro-dollars per million input tokens.',
  }),
  outputUsdMicrosPer1M: micros.meta({
    description: 'Default price in micro-dollars per million output tokens.',
  }),
});

/** Schema of `config.yaml`. `docs/configuration.md` is generated from its metadata; see `config-env-schema.ts`. */
export const fileSchema = z.strictObject({
  models: z
    .record(
      z.string().regex(slug, 'a label must have 1 to 64 characters of a-z 0-9 . _ - and begin with a letter or digit'),
      model,
    )
    .refine((models) => Object.keys(models).length > 0, 'must have at least one label')
    .meta({
      description:
        'Labels that orgs may put into their fallback chains, at least one. A label has 1 to 64 characters of `a-z ' +
        '0-9 . _ -` and begins with a letter or digit. The default prices apply to models that the price list has ' +
        'never contained.',
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
          'The price list: a path (relative to this file), a `file:///` URL or an http(s) URL of JSON `{"<bedrock ' +
          'model id>": {"inputUsdMicrosPer1M": …, "outputUsdMicrosPer1M": …}}`. The worker reads it once per hour. ' +
          'A changed price applies from then on. The last known price applies while the list cannot be read.',
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
