import type { JWK } from 'jose';
import { z } from 'zod';

/**
 * Every environment variable, grouped as `docs/configuration.md` shows them. The page is generated from the metadata
 * here:
 *
 * - `description`: one or more sentences for an operator.
 * - `values`: the allowed values, if the schema does not say so itself.
 * - `unset`: the effect of leaving the variable out, if it has no plain default.
 * - `inDev`: the default of `tollgate dev`, if it differs.
 */
const wholeNumber = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d+$/, `must be a whole number from ${min} to ${max}`)
    .transform(Number)
    .refine((n) => n >= min && n <= max, `must be a whole number from ${min} to ${max}`)
    .meta({ values: `${min.toLocaleString('en-US')} to ${max.toLocaleString('en-US')}` });

const onOff = (isOn = false) =>
  z
    .enum(['true', 'false', '1', '0', 'on', 'off'], 'must be true or false')
    .transform((value) => value === 'true' || value === '1' || value === 'on')
    .default(isOn)
    .meta({ values: '`on`, `true`, `1`, `off`, `false` or `0`' });

const text = z.string().trim().min(1);

const isOrigin = (value: string): boolean =>
  /^https?:\/\/[^*]+$/.test(value) && URL.canParse(value) && new URL(value).origin === value;

const originList = z
  .string()
  .transform((value) => value.split(',').map((origin) => origin.trim()))
  .refine(
    (origins) => origins.every((origin) => origin === '*' || isOrigin(origin)),
    'must be origins such as https://dash.example.com, separated by commas, or *',
  );

const origin = z.string().transform((value, context) => {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  if (url && /^https?:$/.test(url.protocol) && url.href === `${url.origin}/`) return url.origin;
  context.addIssue('must be a URL without a path such as https://tollgate.example.com');
  return z.NEVER;
});

const jwkSet = z
  .string('is missing: must be a JWK set with at least one private Ed25519 key; `tollgate keys` creates one')
  .transform((value, context) => {
    const keys = parseJwks(value);
    if (keys) return keys;
    context.addIssue(
      'must be a JWK set {"keys":[…]} of private Ed25519 keys (kty OKP, crv Ed25519, kid, x, d), each with its own kid',
    );
    return z.NEVER;
  });

function parseJwks(value: string): JWK[] | undefined {
  try {
    const { keys } = JSON.parse(value) as { keys?: JWK[] };
    if (!Array.isArray(keys) || keys.length === 0) return undefined;
    const isValid = keys.every(
      ({ kty, crv, kid, x, d }) =>
        kty === 'OKP' && crv === 'Ed25519' && [kid, x, d].every((part) => typeof part === 'string' && part !== ''),
    );
    return isValid && new Set(keys.map(({ kid }) => kid)).size === keys.length ? keys : undefined;
  } catch {
    return undefined;
  }
}

const dynamoDb = {
  DYNAMODB_ENDPOINT: z
    .url({ protocol: /^https?$/, error: 'must be a URL such as http://127.0.0.1:8000' })
    .optional()
    .meta({
      description:
        'Custom DynamoDB endpoint. `http://…` is a local engine such as DynamoDB Local: region and credentials are ' +
        'optional, because dummy values are used. `https://…` is an AWS endpoint (FIPS, VPC endpoint): the normal ' +
        'AWS region and credentials apply. The SDK variable `AWS_ENDPOINT_URL` works too.',
      values: 'http or https URL',
      unset: 'Amazon DynamoDB; the embedded engine in `tollgate dev`',
    }),
  AWS_REGION: text.optional().meta({
    description: 'AWS region of the tables.',
    unset: "the AWS SDK's own lookup; `us-east-1` for a local engine",
  }),
  TABLE_PREFIX: z
    .string()
    .regex(/^[a-zA-Z0-9_.-]{0,64}$/, 'must have at most 64 characters of A-Z a-z 0-9 _ . -')
    .default('tollgate_')
    .meta({
      description: 'Prefix of every table name. Two deployments in one AWS account and region need different prefixes.',
      values: 'up to 64 of `A-Z a-z 0-9 _ . -`',
    }),
  AWS_ACCESS_KEY_ID: z
    .string()
    .optional()
    .meta({
      description:
        'Static AWS credentials, read by the AWS SDK. On AWS, prefer a role (ECS task role, EC2 instance profile, ' +
        'IRSA): the SDK finds it without any variable.',
      unset: "the AWS SDK's own lookup; dummy credentials for a local engine",
    }),
  AWS_SECRET_ACCESS_KEY: z.string().optional().meta({
    description: 'Belongs to `AWS_ACCESS_KEY_ID`. Read by the AWS SDK.',
    unset: "the AWS SDK's own lookup",
  }),
  AWS_SESSION_TOKEN: z.string().optional().meta({
    description: 'Belongs to `AWS_ACCESS_KEY_ID` if the credentials are temporary. Read by the AWS SDK.',
    unset: "the AWS SDK's own lookup",
  }),
  STORE_CLIENT: z
    .enum(['lean', 'sdk'], 'must be lean or sdk')
    .default('lean')
    .meta({
      description:
        'HTTP client for DynamoDB calls. `sdk` sends them through the AWS SDK instead of the built-in transport, at ' +
        'several times the CPU.',
    }),
};

const secrets = {
  TOLLGATE_ADMIN_KEYS: z
    .string()
    .optional()
    .meta({
      description:
        'Keys of the platform admin (`X-Admin-Key`), as `name:key,name:key`. All are valid at the same time. Each ' +
        'key has at least 32 characters. The audit log shows the name.',
      values: '1 to 16 keys; names are 1 to 32 of `a-z 0-9 . _ -`',
      unset: 'required',
      inDev: 'created at the first start, kept in the data folder',
    }),
  TOLLGATE_ADMIN_KEY: z.string().optional().meta({
    description: 'Alias for one admin key with the name `admin`. May be set together with `TOLLGATE_ADMIN_KEYS`.',
    values: 'at least 32 characters',
    unset: 'not used',
  }),
  TOLLGATE_ROOT_SECRETS: z
    .string()
    .optional()
    .meta({
      description:
        'Root secrets, separated by commas. Must be the same on every gateway. The first one protects new device ' +
        'keys, cursors, leases and refresh tokens; all of them verify existing ones. A secret contains no comma.',
      values: '1 to 8 secrets of at least 32 bytes each',
      unset: 'required',
      inDev: 'created at the first start, kept in the data folder',
    }),
  API_KEY_PEPPER: z.string().optional().meta({
    description: 'Alias for one root secret. It counts as the last one of `TOLLGATE_ROOT_SECRETS`.',
    values: 'at least 32 bytes',
    unset: 'not used',
  }),
  TOLLGATE_SIGNING_KEYS: jwkSet.meta({
    description:
      'JWK set of private Ed25519 keys for access tokens. The first key signs, all keys verify. `tollgate keys` ' +
      'creates a set. Must be the same on every gateway.',
    values: 'JSON `{"keys":[…]}`',
    unset: 'required',
    inDev: 'created at the first start, kept in the data folder',
  }),
  BCRYPT_COST: wholeNumber(4, 15).default(12).meta({
    description:
      'bcrypt cost factor for new client secrets. One more doubles the CPU of creating and first verifying one.',
  }),
};

const server = {
  PORT: wholeNumber(0, 65535).default(4000).meta({
    description: 'Port of the gateway. 0 picks a free port.',
  }),
  HOST: text.default('0.0.0.0').meta({
    description: 'Address that the gateway and the status server of the worker listen on.',
    values: 'IP address or host name',
    inDev: '`127.0.0.1`',
  }),
  WORKER_PORT: wholeNumber(1, 65535).optional().meta({
    description: 'Port on which a worker serves `/healthz` and `/metrics`.',
    unset: 'the worker serves nothing',
  }),
  PUBLIC_URL: origin.optional().meta({
    description:
      'URL that callers use to reach the gateway, without a path. `/.well-known/oauth-authorization-server` names ' +
      'it as the issuer, links into the console begin with it, and the console must be opened there by browsers ' +
      'that send no `Sec-Fetch-Site`.',
    values: 'http or https origin',
    unset: 'taken from the `Host` header of each request',
  }),
  TRUST_PROXY: onOff().meta({
    description:
      'Take the caller address from the last `X-Forwarded-For` entry, and host and scheme from `X-Forwarded-Host` ' +
      'and `X-Forwarded-Proto`. Turn it on behind a load balancer, because otherwise all callers share one address ' +
      'and its limits. Leave it off without one, because otherwise callers can choose their address.',
  }),
  CORS_ORIGINS: originList.optional().meta({
    description:
      'Origins of web pages that may call the gateway, separated by commas, or `*` for any. The list also decides ' +
      'which `Origin` may open a WebSocket.',
    values: 'origins such as `https://dash.example.com`',
    unset: 'none if `NODE_ENV` is `production`; otherwise every origin on this machine',
  }),
  CONSOLE: onOff(true).meta({
    description:
      'Serve the web console at `/console`, with its sessions. `off` removes its pages and endpoints, and no session ' +
      'cookie counts.',
  }),
  READY_WHEN_DEGRADED: onOff().meta({
    description:
      'Keep `/readyz` at 200 with `"status":"degraded"` while DynamoDB is unreachable, so that a load balancer ' +
      'still sends requests of orgs with `onUnavailable: ALLOW`.',
  }),
};

const load = {
  OPERATION_TIMEOUT_MS: wholeNumber(100, 60_000).default(5000).meta({
    description: 'An operation that takes longer fails with `SERVICE_UNAVAILABLE`.',
  }),
  PRINCIPAL_RPS: wholeNumber(0, 1e9).default(5000).meta({
    description: 'Max requests per second per caller and gateway process. More are `RATE_LIMITED`. 0 turns it off.',
  }),
  PRINCIPAL_CONCURRENCY: wholeNumber(0, 1e9).default(512).meta({
    description: 'Max concurrent requests per caller and gateway process. More are `RATE_LIMITED`. 0 turns it off.',
  }),
  GATEWAY_CONCURRENCY: wholeNumber(0, 1e9)
    .default(1024)
    .meta({
      description:
        'Max concurrent operations per gateway process. Above half of it, lists, history and new subscriptions fail ' +
        'with `SERVICE_UNAVAILABLE`; at all of it, every request does, with `Retry-After: 1`. The gateway lowers the ' +
        'bound by itself, to 256 at the lowest, while it is overloaded. 0 turns it off.',
    }),
};

const program = {
  NODE_ENV: z
    .enum(['development', 'production', 'test'], 'must be development, production or test')
    .default('production')
    .meta({
      description:
        '`production` turns off introspection, suggestions in error messages and the GraphQL explorer, and delays ' +
        'a stop by 2 s so that load balancers notice it.',
      inDev: '`development`',
    }),
  LOG_LEVEL: z
    .enum(['trace', 'debug', 'info', 'warn', 'error', 'silent'], 'must be trace, debug, info, warn, error or silent')
    .default('info')
    .meta({
      description: 'Lowest level that is logged. `info` writes one line per request; `warn` saves that CPU.',
    }),
  TOLLGATE_CONFIG: z.string().optional().meta({
    description: 'Path of the configuration file (next section).',
    values: 'file path',
    unset: '`config.yaml` next to the program',
  }),
  TOLLGATE_DATA_DIR: z
    .string()
    .optional()
    .meta({
      description:
        'Folder for the data of the embedded engine and the generated secrets. Used by `tollgate dev`, `tollgate ' +
        'seed` and `tollgate console` only.',
      values: 'folder path',
      unset: '`.tollgate`',
    }),
  AGGREGATION_INTERVAL_SECS: wholeNumber(1, 3600).optional().meta({
    description: 'Overrides `aggregation.intervalSecs` of the configuration file.',
    unset: 'as in the configuration file',
  }),
};

/** The variables that `tollgate tables` needs: none of them is a secret of Tollgate. */
export const storeSchema = z.object(dynamoDb);

export const environmentSchema = z.object({ ...dynamoDb, ...secrets, ...server, ...load, ...program });

/** The sections of `docs/configuration.md`. */
export const environmentGroups = {
  DynamoDB: dynamoDb,
  Secrets: secrets,
  'HTTP server': server,
  'Load limits': load,
  Program: program,
};
