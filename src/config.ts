import { readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { JWK } from 'jose';
import { parse as parseYaml } from 'yaml';
import type { z } from 'zod';
import { environmentSchema, storeSchema } from './config-env-schema.js';
import { fileSchema } from './config-file-schema.js';
import { type AdminKey, parseAdminKeys } from './identity/admin-key.js';
import { parseRootSecrets } from './identity/root-secrets.js';
import type { SeedModel } from './spend/catalog/catalog.js';
import { tokenEntries } from './spend/catalog/price.js';

/** The checked configuration of a process. `docs/configuration.md` describes each setting for operators. */
export interface Config {
  readonly production: boolean;
  readonly host: string;
  readonly port: number;
  /** Port of the worker's /healthz and /metrics. Absent: not served. */
  readonly workerPort?: number;
  readonly store: StoreSettings;
  /** All are valid at the same time. */
  readonly adminKeys: readonly AdminKey[];
  /** All other keys of the deployment are derived from these. The first one protects new values, all verify. */
  readonly rootSecrets: readonly string[];
  /** URL that callers use to reach the gateway. Absent: taken from each request. */
  readonly publicUrl?: string;
  /** The web console. Absent: not served, and its sessions do not count. */
  readonly console?: { readonly dir: string };
  /** The first one signs, all verify. */
  readonly signingKeys: readonly JWK[];
  readonly bcryptCost: number;
  /** An operation that takes longer fails with SERVICE_UNAVAILABLE. */
  readonly operationTimeoutMs: number;
  /** Max requests per second per caller and process. 0: off. */
  readonly principalRps: number;
  /** Max concurrent requests per caller and process. 0: off. */
  readonly principalConcurrency: number;
  /** Max concurrent operations per process. 0: off. */
  readonly gatewayConcurrency: number;
  readonly trustProxy: boolean;
  /** /readyz stays at 200 while DynamoDB is unreachable, so that orgs with the policy ALLOW are still served. */
  readonly readyWhenDegraded: boolean;
  /** Origins whose pages may call: exact origins, `*` for any, `loopback` for any on this machine. */
  readonly corsOrigins: readonly string[];
  readonly logLevel: string;
  /** The models that are added to the catalog once, by label. */
  readonly seedModels: ReadonlyMap<string, SeedModel>;
  /** Max failed logins, refreshes, retrievals and wrong keys per address and minute. */
  readonly loginPerAddressPerMinute: number;
  /** Max costs, and max acquires, that wait for DynamoDB in one process. */
  readonly submissionsWaiting: number;
  readonly aggregation: { readonly intervalSecs: number; readonly nearIntervalSecs: number };
  /** Absolute path or http(s) URL of the price list. Absent: the configured default prices apply. */
  readonly priceSource?: string;
  readonly devices: { readonly maxPerOrg: number; readonly newPerKeyPerMinute: number };
  readonly retention: Retention;
}

/** Days to keep data. */
export interface Retention {
  readonly auditDays: number;
  readonly requestDays: number;
  readonly shardDays: number;
  readonly totalDays: number;
  readonly alertDays: number;
  readonly priceDays: number;
  /** Hourly usage of limits. */
  readonly usageDays: number;
  readonly readingDays: number;
}

/** Where the tables are. Contains no secret of Tollgate. */
export interface StoreSettings {
  readonly endpoint?: string;
  readonly region?: string;
  readonly credentials?: { readonly accessKeyId: string; readonly secretAccessKey: string };
  readonly tablePrefix: string;
  /** Opens connections to the embedded engine if it runs in its own network namespace. */
  readonly dial?: () => Promise<Socket>;
  /** HTTP client for DynamoDB calls: the built-in transport or the AWS SDK. */
  readonly client: 'lean' | 'sdk';
  /** After this time without a response a call is repeated or fails. Default: 1 s. */
  readonly requestTimeoutMs?: number;
}

export type Environment = Readonly<Record<string, string | undefined>>;

/** Lists every fault of a configuration in one message. */
export class ConfigError extends Error {
  constructor(readonly faults: readonly string[]) {
    const count = faults.length === 1 ? 'one fault' : `${faults.length} faults`;
    super(`cannot start: the configuration has ${count}:\n${faults.map((fault) => `  - ${fault}`).join('\n')}`);
    this.name = 'ConfigError';
  }
}

export const processEnvironment = (): Environment => process.env;

/** The SDK warns at every start that later versions drop Node 20. `package.json` pins a version that supports it. */
export function silenceNodeVersionWarning(): void {
  process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED = 'true';
}

/** Reads the environment and `config.yaml`. Throws one `ConfigError` that lists every fault of both. */
export function loadConfig(environment: Environment): Config {
  const faults: string[] = [];
  const env = checked(environmentSchema, given(environment), faults, (path) => path);
  const secrets = deploymentSecrets(given(environment), faults);
  const file = readConfigFile(environment.TOLLGATE_CONFIG, faults);
  if (!env || !file || faults.length > 0) throw new ConfigError(faults);
  return { ...environmentSettings(env), ...secrets, ...fileSettings(file, env) };
}

type Env = z.infer<typeof environmentSchema>;
type File = z.infer<typeof fileSchema>;
type SecretName = 'adminKeys' | 'rootSecrets';
type FileSettingName =
  | 'seedModels'
  | 'loginPerAddressPerMinute'
  | 'aggregation'
  | 'priceSource'
  | 'submissionsWaiting'
  | 'devices'
  | 'retention';

const environmentSettings = (env: Env): Omit<Config, SecretName | FileSettingName> => ({
  production: env.NODE_ENV === 'production',
  host: env.HOST,
  port: env.PORT,
  ...(env.WORKER_PORT ? { workerPort: env.WORKER_PORT } : {}),
  store: storeSettings(env),
  ...(env.PUBLIC_URL ? { publicUrl: env.PUBLIC_URL } : {}),
  ...(env.CONSOLE ? { console: { dir: consoleDir() } } : {}),
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
});

const fileSettings = (file: File, env: Env): Pick<Config, FileSettingName> => ({
  seedModels: new Map(Object.entries(file.models).map(([label, model]) => [label, seedModel(label, model)])),
  loginPerAddressPerMinute: file.login.perAddressPerMinute,
  aggregation: {
    ...file.aggregation,
    ...(env.AGGREGATION_INTERVAL_SECS ? { intervalSecs: env.AGGREGATION_INTERVAL_SECS } : {}),
  },
  ...(file.prices ? { priceSource: priceSource(file.prices.source, configPath(env.TOLLGATE_CONFIG)) } : {}),
  submissionsWaiting: file.submissions.maxWaiting,
  devices: file.devices,
  retention: file.retention,
});

function seedModel(label: string, model: File['models'][string]): SeedModel {
  const { modelId, bedrockModelId, inputUsdMicrosPer1M, outputUsdMicrosPer1M, prices = [], ...facts } = model;
  return {
    label,
    modelId: modelId ?? bedrockModelId ?? '',
    ...withoutUndefined(facts as Omit<SeedModel, 'label' | 'modelId' | 'entries'>),
    entries: [...tokenEntries(inputUsdMicrosPer1M, outputUsdMicrosPer1M), ...prices],
  };
}

function deploymentSecrets(environment: Environment, faults: string[]): Pick<Config, SecretName> {
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

/** True for a local engine such as DynamoDB Local. AWS endpoints, VPC endpoints included, use https. */
export const isLocalEngine = (endpoint: string | undefined): boolean => endpoint?.startsWith('http:') ?? false;

function storeSettings(env: z.infer<typeof storeSchema>): StoreSettings {
  const isLocal = isLocalEngine(env.DYNAMODB_ENDPOINT);
  return {
    tablePrefix: env.TABLE_PREFIX,
    client: env.STORE_CLIENT,
    // A local engine ignores the region, but the SDK requires one. On AWS the SDK finds it.
    ...(env.AWS_REGION || isLocal ? { region: env.AWS_REGION ?? 'us-east-1' } : {}),
    ...(env.DYNAMODB_ENDPOINT ? { endpoint: env.DYNAMODB_ENDPOINT } : {}),
    // A local engine accepts any credentials, but requires some.
    ...(isLocal && !env.AWS_ACCESS_KEY_ID ? { credentials: { accessKeyId: 'local', secretAccessKey: 'local' } } : {}),
  };
}

/** Drops empty variables: an empty variable counts as not set. */
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

/** Where the build of the console is, from the source files as well as from their build. */
const consoleDir = (): string => fileURLToPath(new URL('../dist/console', import.meta.url));

/** Resolves a relative path against the folder of the configuration file, not against the working directory. */
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

const withoutUndefined = <T extends object>(value: T): T =>
  Object.fromEntries(Object.entries(value).filter(([, entry]) => entry !== undefined)) as T;
