import { readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { JWK } from 'jose';
import { parse as parseYaml } from 'yaml';
import { z } from 'zod';
import { type AdminKey, parseAdminKeys } from './identity/admin-key.js';
import { parseRootSecrets } from './identity/root-secrets.js';
import { slug } from './lib/patterns.js';
import type { Catalog } from './spend/price.js';

export interface Config {
  readonly production: boolean;
  readonly host: string;
  readonly port: number;
  /** Where the worker tells its health and metrics; absent: nowhere. */
  readonly workerPort?: number;
  readonly store: StoreSettings;
  /** All are valid at once. */
  readonly adminKeys: readonly AdminKey[];
  /** All other keys of the deployment are derived from these. The first makes, all verify. */
  readonly rootSecrets: readonly string[];
  /** The URL that callers reach the gateway by; absent: as the request names it. */
  readonly publicUrl?: string;
  /** The first signs, all verify. */
  readonly signingKeys: readonly JWK[];
  readonly bcryptCost: number;
  /** 0: off. */
  /** An operation that takes longer is answered SERVICE_UNAVAILABLE. */
  readonly operationTimeoutMs: number;
  readonly principalRps: number;
  readonly principalConcurrency: number;
  /** Operations under way in one process; 0: any number. */
  readonly gatewayConcurrency: number;
  readonly trustProxy: boolean;
  /** Whether /readyz says yes while the store does not answer, so that orgs with the policy ALLOW are still served. */
  readonly readyWhenDegraded: boolean;
  /** Origins whose pages may call: exact ones, `*` for any, `loopback` for any on this machine. */
  readonly corsOrigins: readonly string[];
  readonly logLevel: string;
  readonly catalog: Catalog;
  /** Failed logins, refreshes and retrievals per address and minute. */
  readonly loginPerAddressPerMinute: number;
  /** How many costs, and how many acquires, may wait for the store. */
  readonly submissionsWaiting: number;
  readonly aggregation: { readonly intervalSecs: number; readonly nearIntervalSecs: number };
  /** An absolute path or an http(s) URL of the price list; absent: the configured defaults apply. */
  readonly priceSource?: string;
  readonly devices: { readonly maxPerOrg: number; readonly newPerKeyPerMinute: number };
  readonly retention: Retention;
}

/** Days to keep things. */
export interface Retention {
  readonly auditDays: number;
  readonly requestDays: number;
  readonly shardDays: number;
  readonly totalDays: number;
  readonly alertDays: number;
  readonly priceDays: number;
  /** Of limits, by the hour. */
  readonly usageDays: number;
  readonly readingDays: number;
}

/** Where the tables are, and nothing that is secret: all that `tables` needs. */
export interface StoreSettings {
  readonly endpoint?: string;
  readonly region?: string;
  readonly credentials?: { readonly accessKeyId: string; readonly secretAccessKey: string };
  readonly tablePrefix: string;
  /** Opens connections to the embedded engine, which no address leads to. */
  readonly dial?: () => Promise<Socket>;
  /** How calls reach the store: our own lean transport, or the SDK's. */
  readonly client: 'lean' | 'sdk';
}

export type Environment = Readonly<Record<string, string | undefined>>;

/** Everything that is wrong with a configuration, in one message. */
export class ConfigError extends Error {
  constructor(readonly faults: readonly string[]) {
    super(
      `cannot start, ${faults.length === 1 ? 'one thing is' : `${faults.length} things are`} wrong with the configuration:\n${faults.map((fault) => `  - ${fault}`).join('\n')}`,
    );
    this.name = 'ConfigError';
  }
}

export const processEnvironment = (): Environment => process.env;

/** The SDK warns at every start that it will leave Node 20 one day; `package.json` pins the version that has not. */
export function silenceNodeVersionWarning(): void {
  process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED = 'true';
}

const text = z.string().trim().min(1);
const micros = z.number().int().min(0).max(1e12);
const days = z.number().int().min(1).max(3650);
/** A path or URL; anything else that looks like a URL is a mistake. */
function isPriceSource(source: string): boolean {
  if (!/^[a-z][a-z0-9+.-]*:\/\//i.test(source)) return true;
  return URL.canParse(source) && (/^https?:/i.test(source) || /^file:\/\/\//i.test(source));
}
const fileSchema = z.strictObject({
  models: z
    .record(
      z.string().regex(slug, 'a label is 1 to 64 of a-z 0-9 . _ - and begins with a letter or digit'),
      z.strictObject({
        bedrockModelId: text.max(256).regex(/^[^#/\s\p{Cc}]+$/u, 'no spaces, control characters, # or /'),
        tier: text.optional(),
        family: text.optional(),
        description: text.optional(),
        inputUsdMicrosPer1M: micros,
        outputUsdMicrosPer1M: micros,
      }),
    )
    .refine((models) => Object.keys(models).length > 0, 'at least one label is needed'),
  login: z.strictObject({ perAddressPerMinute: z.number().int().min(1) }),
  aggregation: z.strictObject({
    intervalSecs: z.number().int().min(1).max(3600),
    nearIntervalSecs: z.number().int().min(1).max(3600),
  }),
  submissions: z.strictObject({ mostWaiting: z.number().int().min(1) }),
  devices: z
    .strictObject({ maxPerOrg: z.number().int().min(1).max(1e9), newPerKeyPerMinute: z.number().int().min(1).max(1e9) })
    .default({ maxPerOrg: 100_000, newPerKeyPerMinute: 600 }),
  prices: z
    .strictObject({
      source: text.refine(isPriceSource, 'must be a path, a file:// URL without a host, or an http(s) URL'),
    })
    .optional(),
  retention: z.strictObject({
    auditDays: days,
    requestDays: days,
    shardDays: days,
    totalDays: days,
    alertDays: days,
    priceDays: days,
    usageDays: days,
    readingDays: days,
  }),
});

const wholeNumber = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d+$/, `must be a whole number from ${min} to ${max}`)
    .transform(Number)
    .refine((n) => n >= min && n <= max, `must be a whole number from ${min} to ${max}`);
const onOff = z
  .enum(['true', 'false', '1', '0', 'on', 'off'], 'must be true or false')
  .transform((value) => value === 'true' || value === '1' || value === 'on')
  .default(false);
const originList = z
  .string()
  .transform((value) => value.split(',').map((origin) => origin.trim()))
  .refine(
    (origins) =>
      origins.every(
        (origin) =>
          origin === '*' ||
          (/^https?:\/\/[^*]+$/.test(origin) && URL.canParse(origin) && new URL(origin).origin === origin),
      ),
    'must be origins such as https://dash.example.com, separated by commas, or *',
  );
const jwkSet = z
  .string('is missing: a JWK set with at least one private Ed25519 key; `tollgate keys` makes one')
  .transform((value, context) => {
    const keys = parseJwks(value);
    if (keys) return keys;
    context.addIssue(
      'must be a JWK set {"keys":[…]} of private Ed25519 keys (kty OKP, crv Ed25519, kid, x, d), each with its own kid',
    );
    return z.NEVER;
  });

const storeSchema = z.object({
  DYNAMODB_ENDPOINT: z.url({ protocol: /^https?$/, error: 'must be a URL such as http://127.0.0.1:8000' }).optional(),
  AWS_REGION: text.optional(),
  TABLE_PREFIX: z
    .string()
    .regex(/^[a-zA-Z0-9_.-]{0,64}$/, 'at most 64 of A-Z a-z 0-9 _ . -')
    .default('tollgate_'),
  AWS_ACCESS_KEY_ID: z.string().optional(),
  STORE_CLIENT: z.enum(['lean', 'sdk'], 'must be lean or sdk').default('lean'),
});
const origin = z.string().transform((value, context) => {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  if (url && /^https?:$/.test(url.protocol) && url.href === `${url.origin}/`) return url.origin;
  context.addIssue('must be a URL without a path such as https://tollgate.example.com');
  return z.NEVER;
});
const environmentSchema = storeSchema.extend({
  NODE_ENV: z
    .enum(['development', 'production', 'test'], 'must be development, production or test')
    .default('production'),
  HOST: text.default('0.0.0.0'),
  PORT: wholeNumber(0, 65535).default(4000),
  WORKER_PORT: wholeNumber(1, 65535).optional(),
  PUBLIC_URL: origin.optional(),
  TOLLGATE_SIGNING_KEYS: jwkSet,
  BCRYPT_COST: wholeNumber(4, 15).default(12),
  AGGREGATION_INTERVAL_SECS: wholeNumber(1, 3600).optional(),
  OPERATION_TIMEOUT_MS: wholeNumber(100, 60_000).default(5000),
  PRINCIPAL_RPS: wholeNumber(0, 1e9).default(5000),
  PRINCIPAL_CONCURRENCY: wholeNumber(0, 1e9).default(512),
  GATEWAY_CONCURRENCY: wholeNumber(0, 1e9).default(1024),
  TRUST_PROXY: onOff,
  READY_WHEN_DEGRADED: onOff,
  CORS_ORIGINS: originList.optional(),
  LOG_LEVEL: z
    .enum(['trace', 'debug', 'info', 'warn', 'error', 'silent'], 'must be trace, debug, info, warn, error or silent')
    .default('info'),
});

/** Reads the environment and `config.yaml`; throws one `ConfigError` that names every fault of both. */
export function loadConfig(environment: Environment): Config {
  const faults: string[] = [];
  const env = checked(environmentSchema, given(environment), faults, (path) => path);
  const { adminKeys, rootSecrets } = deploymentSecrets(given(environment), faults);
  const file = readConfigFile(environment.TOLLGATE_CONFIG, faults);
  if (!env || !file || faults.length > 0) throw new ConfigError(faults);
  return {
    production: env.NODE_ENV === 'production',
    host: env.HOST,
    port: env.PORT,
    ...(env.WORKER_PORT ? { workerPort: env.WORKER_PORT } : {}),
    store: storeSettings(env),
    adminKeys,
    rootSecrets,
    ...(env.PUBLIC_URL ? { publicUrl: env.PUBLIC_URL } : {}),
    signingKeys: env.TOLLGATE_SIGNING_KEYS,
    bcryptCost: env.BCRYPT_COST,
    operationTimeoutMs: env.OPERATION_TIMEOUT_MS,
    principalRps: env.PRINCIPAL_RPS,
    principalConcurrency: env.PRINCIPAL_CONCURRENCY,
    gatewayConcurrency: env.GATEWAY_CONCURRENCY,
    trustProxy: env.TRUST_PROXY,
    readyWhenDegraded: env.READY_WHEN_DEGRADED,
    corsOrigins: env.CORS_ORIGINS ?? (env.NODE_ENV === 'production' ? [] : ['loopback']),
    logLevel: env.LOG_LEVEL,
    catalog: new Map(
      Object.entries(file.models).map(([label, model]) => [label, { label, ...withoutUndefined(model) }]),
    ) as Catalog,
    loginPerAddressPerMinute: file.login.perAddressPerMinute,
    aggregation: {
      ...file.aggregation,
      ...(env.AGGREGATION_INTERVAL_SECS ? { intervalSecs: env.AGGREGATION_INTERVAL_SECS } : {}),
    },
    ...(file.prices ? { priceSource: priceSource(file.prices.source, configPath(environment.TOLLGATE_CONFIG)) } : {}),
    submissionsWaiting: file.submissions.mostWaiting,
    devices: file.devices,
    retention: file.retention,
  };
}

function deploymentSecrets(environment: Environment, faults: string[]): Pick<Config, 'adminKeys' | 'rootSecrets'> {
  const admin = parseAdminKeys(environment.TOLLGATE_ADMIN_KEYS, environment.TOLLGATE_ADMIN_KEY);
  const roots = parseRootSecrets(environment.TOLLGATE_ROOT_SECRETS, environment.API_KEY_PEPPER);
  faults.push(...admin.faults, ...roots.faults);
  return { adminKeys: admin.keys, rootSecrets: roots.secrets };
}

/** The part of the configuration that `tollgate tables` needs. */
export function loadStoreSettings(environment: Environment): StoreSettings {
  const faults: string[] = [];
  const env = checked(storeSchema, given(environment), faults, (path) => path);
  if (!env) throw new ConfigError(faults);
  return storeSettings(env);
}

/** An engine of one's own: what Amazon and those before it offer is reached by https. */
export const isLocalEngine = (endpoint: string | undefined): boolean => endpoint?.startsWith('http:') ?? false;

function storeSettings(env: z.infer<typeof storeSchema>): StoreSettings {
  const isLocal = isLocalEngine(env.DYNAMODB_ENDPOINT);
  return {
    tablePrefix: env.TABLE_PREFIX,
    client: env.STORE_CLIENT,
    // A local engine does not care, but the SDK wants one; on AWS its own chain finds it.
    ...(env.AWS_REGION || isLocal ? { region: env.AWS_REGION ?? 'us-east-1' } : {}),
    ...(env.DYNAMODB_ENDPOINT ? { endpoint: env.DYNAMODB_ENDPOINT } : {}),
    // A local engine takes any credentials but wants some.
    ...(isLocal && !env.AWS_ACCESS_KEY_ID ? { credentials: { accessKeyId: 'local', secretAccessKey: 'local' } } : {}),
  };
}

/** An empty variable counts as one that is not set. */
const given = (environment: Environment): Environment =>
  Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== undefined && value !== ''));

function checked<T extends z.ZodType>(
  schema: T,
  value: unknown,
  faults: string[],
  name: (path: string) => string,
): z.infer<T> | undefined {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  for (const issue of result.error.issues) {
    const nested = issue.code === 'invalid_key' ? issue.issues.map(({ message }) => message).join(', ') : issue.message;
    faults.push(`${name(issue.path.join('.'))}: ${nested}`);
  }
  return undefined;
}

const configPath = (path: string | undefined): string =>
  path ? resolve(path) : fileURLToPath(new URL('../config.yaml', import.meta.url));

/** A relative path is relative to the file that names it, wherever the process was started. */
function priceSource(source: string, configFile: string): string {
  if (/^https?:/i.test(source)) return source;
  return /^file:/i.test(source) ? fileURLToPath(source) : resolve(dirname(configFile), source);
}

function readConfigFile(path: string | undefined, faults: string[]): z.infer<typeof fileSchema> | undefined {
  const file = configPath(path);
  try {
    return checked(fileSchema, parseYaml(readFileSync(file, 'utf8')), faults, (at) => `${file}${at ? `, ${at}` : ''}`);
  } catch (error) {
    faults.push(`${file}: ${(error as Error).message.split('\n')[0]}`);
    return undefined;
  }
}

function parseJwks(value: string): JWK[] | undefined {
  try {
    const { keys } = JSON.parse(value) as { keys?: JWK[] };
    if (!Array.isArray(keys) || keys.length === 0) return undefined;
    const sound = keys.every(
      ({ kty, crv, kid, x, d }) =>
        kty === 'OKP' && crv === 'Ed25519' && [kid, x, d].every((part) => typeof part === 'string' && part !== ''),
    );
    return sound && new Set(keys.map(({ kid }) => kid)).size === keys.length ? keys : undefined;
  } catch {
    return undefined;
  }
}

const withoutUndefined = <T extends object>(value: T): T =>
  Object.fromEntries(Object.entries(value).filter(([, entry]) => entry !== undefined)) as T;
