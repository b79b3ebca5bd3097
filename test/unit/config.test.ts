import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JWK } from 'jose';
import { parse, stringify } from 'yaml';
import { ConfigError, type Environment, isLocalEngine, loadConfig, loadStoreSettings } from '../../src/config.js';
import { newSigningKeys } from '../../src/identity/token.js';

let folder: string;
let jwks: JWK[];
let valid: Environment;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'tollgate-config-'));
  jwks = [...(await newSigningKeys()), ...(await newSigningKeys())];
  valid = {
    TOLLGATE_ADMIN_KEY: 'a'.repeat(32),
    API_KEY_PEPPER: 'p'.repeat(32),
    TOLLGATE_SIGNING_KEYS: JSON.stringify({ keys: jwks }),
  };
});
afterAll(() => rmSync(folder, { recursive: true }));

let files = 0;
function fileOf(text: string): string {
  const path = join(folder, `${files++}.yaml`);
  writeFileSync(path, text);
  return path;
}

function faultsOf(
  environment: Environment,
  load: (environment: Environment) => unknown = loadConfig,
): readonly string[] {
  try {
    load(environment);
  } catch (error) {
    if (error instanceof ConfigError) return error.faults;
    throw error;
  }
  return [];
}

// The shipped file with one change, so that a test does not depend on the other keys.
const shipped = readFileSync(new URL('../../config.yaml', import.meta.url), 'utf8');
interface File {
  models: Record<string, Record<string, unknown>>;
  login: Record<string, unknown>;
  retention: Record<string, unknown>;
  [section: string]: Record<string, unknown>;
}
function changed(change: (file: File) => void): string {
  const file = parse(shipped) as File;
  change(file);
  return stringify(file);
}

describe('loadConfig', () => {
  it('has the documented defaults of a gateway and a worker', () => {
    expect(loadConfig(valid)).toMatchObject({
      production: true,
      host: '0.0.0.0',
      port: 4000,
      bcryptCost: 12,
      operationTimeoutMs: 5000,
      principalRps: 5000,
      principalConcurrency: 512,
      trustProxy: false,
      readyWhenDegraded: false,
      logLevel: 'info',
      store: { tablePrefix: 'tollgate_' },
    });
  });

  it('leaves endpoint and credentials to the AWS SDK if no endpoint is set', () => {
    const { store } = loadConfig(valid);
    expect(store).not.toHaveProperty('endpoint');
    expect(store).not.toHaveProperty('credentials');
  });

  it('uses dummy credentials for a local engine unless credentials are set', () => {
    const local = { ...valid, DYNAMODB_ENDPOINT: 'http://127.0.0.1:8000' };
    expect(loadConfig(local).store).toMatchObject({
      endpoint: 'http://127.0.0.1:8000',
      credentials: { accessKeyId: 'local' },
    });
    expect(loadConfig({ ...local, AWS_ACCESS_KEY_ID: 'mine' }).store).not.toHaveProperty('credentials');
  });

  it('treats an https endpoint as AWS: the SDK finds region and credentials', () => {
    const { store } = loadConfig({
      ...valid,
      DYNAMODB_ENDPOINT: 'https://vpce-1.dynamodb.eu-west-1.vpce.amazonaws.com',
    });
    expect(store).toMatchObject({ endpoint: 'https://vpce-1.dynamodb.eu-west-1.vpce.amazonaws.com' });
    expect(store).not.toHaveProperty('region');
    expect(store).not.toHaveProperty('credentials');
    expect([isLocalEngine(store.endpoint), isLocalEngine(undefined), isLocalEngine('http://127.0.0.1:8000')]).toEqual([
      false,
      false,
      true,
    ]);
  });

  it('reads every variable that is set', () => {
    const config = loadConfig({
      ...valid,
      NODE_ENV: 'development',
      HOST: '127.0.0.1',
      PORT: '0',
      AWS_REGION: 'eu-central-1',
      TABLE_PREFIX: 'test-1.',
      TOLLGATE_DATA_DIR: '/tmp/data',
      BCRYPT_COST: '4',
      PRINCIPAL_RPS: '0',
      PRINCIPAL_CONCURRENCY: '0',
      TRUST_PROXY: 'on',
      READY_WHEN_DEGRADED: 'on',
      LOG_LEVEL: 'silent',
    });
    expect(config).toMatchObject({
      production: false,
      host: '127.0.0.1',
      port: 0,
      store: { region: 'eu-central-1', tablePrefix: 'test-1.' },
      adminKeys: [{ name: 'admin', key: 'a'.repeat(32) }],
      rootSecrets: ['p'.repeat(32)],
      signingKeys: jwks,
      bcryptCost: 4,
      principalRps: 0,
      principalConcurrency: 0,
      trustProxy: true,
      readyWhenDegraded: true,
      logLevel: 'silent',
    });
  });

  it('ships a file with the three documented labels and their prices', () => {
    const { seedModels, loginPerAddressPerMinute, aggregation, retention } = loadConfig(valid);
    const prices = [...seedModels.values()].map(({ label, modelId, entries }) => [
      label,
      modelId,
      ...entries.filter(({ name }) => ['input', 'output'].includes(name)).map(({ usdMicrosPer1M }) => usdMicrosPer1M),
    ]);
    expect(prices).toEqual([
      ['premium', 'anthropic.claude-3-5-sonnet-20241022-v2:0', 3_000_000, 15_000_000],
      ['standard', 'anthropic.claude-3-5-haiku-20241022-v1:0', 800_000, 4_000_000],
      ['economy', 'anthropic.claude-3-haiku-20240307-v1:0', 250_000, 1_250_000],
    ]);
    expect(loginPerAddressPerMinute).toBe(200);
    expect(aggregation).toEqual({ intervalSecs: 60, nearIntervalSecs: 5 });
    expect(retention).toMatchObject({
      auditDays: 90,
      requestDays: 35,
      shardDays: 35,
      totalDays: 400,
      alertDays: 30,
      priceDays: 3,
    });
  });

  it('lets AGGREGATION_INTERVAL_SECS override the file', () => {
    expect(loadConfig({ ...valid, AGGREGATION_INTERVAL_SECS: '7' }).aggregation.intervalSecs).toBe(7);
    expect(faultsOf({ ...valid, AGGREGATION_INTERVAL_SECS: '0' })).toEqual([
      expect.stringMatching(/^AGGREGATION_INTERVAL_SECS: must be a whole number/),
    ]);
  });

  it('reads the file that TOLLGATE_CONFIG names', () => {
    const prices = { inputUsdMicrosPer1M: 1, outputUsdMicrosPer1M: 2 };
    const text = changed((file) => {
      file.models = {
        gold: { bedrockModelId: 'm', ...prices },
        silver: {
          modelId: 'arn:aws:bedrock:eu-west-1:1:inference-profile/eu.m#1',
          provider: 'bedrock',
          ...prices,
          prices: [
            { name: 'input', usdMicrosPer1M: 3, above: 200_000 },
            { name: 'cacheRead', usdMicrosPer1M: 4 },
          ],
        },
      };
    });
    const base = [
      { name: 'input', usdMicrosPer1M: 1, above: 0 },
      { name: 'output', usdMicrosPer1M: 2, above: 0 },
    ];
    expect([...loadConfig({ ...valid, TOLLGATE_CONFIG: fileOf(text) }).seedModels]).toEqual([
      ['gold', { label: 'gold', modelId: 'm', entries: base }],
      [
        'silver',
        {
          label: 'silver',
          modelId: 'arn:aws:bedrock:eu-west-1:1:inference-profile/eu.m#1',
          provider: 'bedrock',
          entries: [
            ...base,
            { name: 'input', usdMicrosPer1M: 3, above: 200_000 },
            { name: 'cacheRead', usdMicrosPer1M: 4, above: 0 },
          ],
        },
      ],
    ]);
  });

  it('treats an empty variable as not set', () => {
    const names = [
      'HOST',
      'PORT',
      'NODE_ENV',
      'LOG_LEVEL',
      'TRUST_PROXY',
      'BCRYPT_COST',
      'DYNAMODB_ENDPOINT',
      'AWS_REGION',
      'TOLLGATE_DATA_DIR',
    ];
    const empty = Object.fromEntries(
      [...names, 'PRINCIPAL_RPS', 'PRINCIPAL_CONCURRENCY', 'AWS_ACCESS_KEY_ID', 'TOLLGATE_CONFIG'].map((name) => [
        name,
        '',
      ]),
    );
    expect(loadConfig({ ...valid, ...empty })).toEqual(loadConfig(valid));
    expect(faultsOf({ ...valid, TOLLGATE_ADMIN_KEY: '' })).toEqual([
      expect.stringMatching(/^TOLLGATE_ADMIN_KEYS: is missing/),
    ]);
  });

  it('reports every missing secret', () => {
    expect(faultsOf({})).toEqual([
      expect.stringMatching(/^TOLLGATE_SIGNING_KEYS: is missing/),
      expect.stringMatching(/^TOLLGATE_ADMIN_KEYS: is missing/),
      expect.stringMatching(/^TOLLGATE_ROOT_SECRETS: is missing/),
    ]);
  });

  it('reports every fault of the environment and of the file in one error', () => {
    const path = fileOf(
      changed((file) => {
        file.models = {
          premium: { bedrockModelId: 'a\nb', inputUsdMicrosPer1M: -1 },
          'Bad Label': file.models.premium ?? {},
        };
        file.extra = {};
        delete (file as Partial<File>).retention;
      }),
    );
    const faults = faultsOf({
      NODE_ENV: 'prod',
      PORT: '99999',
      TOLLGATE_ADMIN_KEY: 'short',
      API_KEY_PEPPER: 'short',
      TOLLGATE_SIGNING_KEYS: 'junk',
      BCRYPT_COST: '3',
      PRINCIPAL_RPS: '-1',
      PRINCIPAL_CONCURRENCY: 'many',
      GATEWAY_CONCURRENCY: '1.5',
      TRUST_PROXY: 'maybe',
      LOG_LEVEL: 'loud',
      TABLE_PREFIX: 'a/b',
      DYNAMODB_ENDPOINT: 'nowhere',
      TOLLGATE_CONFIG: path,
    });
    for (const name of [
      'NODE_ENV',
      'PORT',
      'TOLLGATE_ADMIN_KEY',
      'API_KEY_PEPPER',
      'TOLLGATE_SIGNING_KEYS',
      'BCRYPT_COST',
      'PRINCIPAL_RPS',
      'PRINCIPAL_CONCURRENCY',
      'GATEWAY_CONCURRENCY',
      'TRUST_PROXY',
      'LOG_LEVEL',
      'TABLE_PREFIX',
      'DYNAMODB_ENDPOINT',
    ]) {
      expect(faults.filter((fault) => fault.startsWith(`${name}: `))).toHaveLength(1);
    }
    for (const at of [
      'models.premium.bedrockModelId: must not contain control',
      'models.premium.inputUsdMicrosPer1M: ',
      'models.premium.outputUsdMicrosPer1M: ',
      'models.Bad Label: a label must have',
      'retention: ',
    ]) {
      expect(faults.filter((fault) => fault.startsWith(`${path}, ${at}`))).toHaveLength(1);
    }
    expect(faults.filter((fault) => fault.includes('"extra"'))).toHaveLength(1);
    expect(faults).toHaveLength(19);
    expect(new ConfigError(faults).message.split('\n')).toHaveLength(20);
  });

  it('puts no secret into the error message', () => {
    const environment = {
      TOLLGATE_ADMIN_KEY: 'short-admin-key',
      API_KEY_PEPPER: 'short-pepper',
      TOLLGATE_SIGNING_KEYS: '{"keys":[{"d":"private-part"}]}',
    };
    expect(faultsOf(environment).join('\n')).not.toMatch(/short-|private-part/);
  });

  it.each<[string, string, string]>([
    ['PORT', '4000.5', 'must be a whole number from 0 to 65535'],
    ['PORT', '65536', 'must be a whole number from 0 to 65535'],
    ['PORT', '0x10', 'must be a whole number from 0 to 65535'],
    ['PORT', ' 80', 'must be a whole number from 0 to 65535'],
    ['BCRYPT_COST', '16', 'must be a whole number from 4 to 15'],
    ['PRINCIPAL_RPS', '1e3', 'must be a whole number'],
    ['TRUST_PROXY', 'yes', 'must be true or false'],
    ['READY_WHEN_DEGRADED', 'yes', 'must be true or false'],
    ['LOG_LEVEL', 'INFO', 'must be trace'],
    ['NODE_ENV', 'staging', 'must be development, production or test'],
    ['TABLE_PREFIX', 'a'.repeat(65), 'must have at most 64'],
    ['TABLE_PREFIX', 'tollgate#', 'must have at most 64'],
    ['TABLE_PREFIX', 'tollgate_\n', 'must have at most 64'],
    ['DYNAMODB_ENDPOINT', '127.0.0.1:8000', 'must be a URL'],
    ['DYNAMODB_ENDPOINT', 'localhost:8000', 'must be a URL'],
    ['DYNAMODB_ENDPOINT', 'ftp://127.0.0.1', 'must be a URL'],
    ['HOST', '  ', ''],
    ['API_KEY_PEPPER', 'p'.repeat(31), 'must have at least 32 bytes'],
    ['TOLLGATE_ADMIN_KEY', 'a'.repeat(31), 'must have at least 32 characters'],
  ])('rejects %s=%j', (name, value, message) => {
    const faults = faultsOf({ ...valid, [name]: value });
    expect(faults).toHaveLength(1);
    expect(faults[0]?.startsWith(`${name}: ${message}`)).toBe(true);
  });

  it.each([
    ['true', true],
    ['1', true],
    ['on', true],
    ['false', false],
    ['0', false],
    ['off', false],
  ])('reads TRUST_PROXY=%s as %p', (value, trusted) => {
    expect(loadConfig({ ...valid, TRUST_PROXY: value }).trustProxy).toBe(trusted);
  });

  it.each<[string, Environment, readonly string[]]>([
    [
      'a list',
      { TOLLGATE_ROOT_SECRETS: `${'n'.repeat(32)}, ${'o'.repeat(32)}`, API_KEY_PEPPER: undefined },
      ['n'.repeat(32), 'o'.repeat(32)],
    ],
    ['API_KEY_PEPPER as the last secret', { TOLLGATE_ROOT_SECRETS: 'n'.repeat(32) }, ['n'.repeat(32), 'p'.repeat(32)]],
    [
      'API_KEY_PEPPER once if the list contains it',
      { TOLLGATE_ROOT_SECRETS: `${'p'.repeat(32)},${'n'.repeat(32)}` },
      ['p'.repeat(32), 'n'.repeat(32)],
    ],
    ['API_KEY_PEPPER with a comma as one secret', { API_KEY_PEPPER: `a,${'p'.repeat(32)}` }, [`a,${'p'.repeat(32)}`]],
  ])('reads %s as root secrets', (_, environment, rootSecrets) => {
    expect(loadConfig({ ...valid, ...environment }).rootSecrets).toEqual(rootSecrets);
  });

  it.each<[string, Environment, string]>([
    [
      'a short secret',
      { TOLLGATE_ROOT_SECRETS: `${'n'.repeat(32)},short` },
      'TOLLGATE_ROOT_SECRETS: each secret must have at least 32 bytes',
    ],
    [
      'an empty secret',
      { TOLLGATE_ROOT_SECRETS: `${'n'.repeat(32)},` },
      'TOLLGATE_ROOT_SECRETS: each secret must have at least 32 bytes',
    ],
    [
      'a duplicate secret',
      { TOLLGATE_ROOT_SECRETS: `${'n'.repeat(32)},${'n'.repeat(32)}` },
      'TOLLGATE_ROOT_SECRETS: must not list a secret twice',
    ],
    [
      'nine secrets',
      {
        TOLLGATE_ROOT_SECRETS: Array.from('abcdefghi', (letter) => letter.repeat(32)).join(),
        API_KEY_PEPPER: undefined,
      },
      'TOLLGATE_ROOT_SECRETS: must have at most 8 secrets',
    ],
    ['an admin key without a name', { TOLLGATE_ADMIN_KEYS: 'k'.repeat(32) }, 'TOLLGATE_ADMIN_KEYS: must be name:key'],
    [
      'an admin key with an upper-case name',
      { TOLLGATE_ADMIN_KEYS: `Ops:${'k'.repeat(32)}` },
      'TOLLGATE_ADMIN_KEYS: must be name:key',
    ],
    [
      'a short admin key',
      { TOLLGATE_ADMIN_KEYS: `ops:${'k'.repeat(31)}` },
      'TOLLGATE_ADMIN_KEYS: each key must have at least 32 characters',
    ],
    [
      'a duplicate name',
      { TOLLGATE_ADMIN_KEYS: `ops:${'k'.repeat(32)},ops:${'l'.repeat(32)}` },
      'TOLLGATE_ADMIN_KEYS: must not use a name twice',
    ],
    [
      'the reserved name admin',
      { TOLLGATE_ADMIN_KEYS: `admin:${'k'.repeat(32)}` },
      'TOLLGATE_ADMIN_KEYS: must not use a name twice',
    ],
    [
      'a duplicate key',
      { TOLLGATE_ADMIN_KEYS: `ops:${'a'.repeat(32)}` },
      'TOLLGATE_ADMIN_KEYS: must not list a key twice',
    ],
    [
      'seventeen admin keys',
      { TOLLGATE_ADMIN_KEYS: Array.from('bcdefghijklmnopqr', (letter) => `${letter}:${letter.repeat(32)}`).join() },
      'TOLLGATE_ADMIN_KEYS: must have at most 16 keys',
    ],
    [
      'a public URL with a path',
      { PUBLIC_URL: 'https://example.com/tollgate' },
      'PUBLIC_URL: must be a URL without a path',
    ],
    ['a public URL without a scheme', { PUBLIC_URL: 'example.com' }, 'PUBLIC_URL: must be a URL without a path'],
  ])('rejects %s', (_, environment, fault) => {
    expect(faultsOf({ ...valid, ...environment })).toEqual([expect.stringContaining(fault)]);
  });

  it('reads admin keys with their names, and TOLLGATE_ADMIN_KEY as admin', () => {
    const { adminKeys, publicUrl } = loadConfig({
      ...valid,
      TOLLGATE_ADMIN_KEYS: ` ops : ${'k'.repeat(32)}:x `,
      PUBLIC_URL: 'https://Example.com/',
    });
    expect(adminKeys).toEqual([
      { name: 'ops', key: `${'k'.repeat(32)}:x` },
      { name: 'admin', key: 'a'.repeat(32) },
    ]);
    expect(publicUrl).toBe('https://example.com');
  });

  it('measures API_KEY_PEPPER in bytes', () => {
    expect(faultsOf({ ...valid, API_KEY_PEPPER: 'é'.repeat(16) })).toEqual([]);
  });

  it('rejects signing keys that are malformed, lack the private part or share a kid', () => {
    const [first, second] = jwks as [JWK, JWK];
    const { d: _, ...publicOnly } = first;
    const faulty: unknown[] = [
      [],
      {},
      null,
      1,
      { keys: [] },
      { keys: 'x' },
      { keys: [null] },
      { keys: [publicOnly] },
      { keys: [{ ...first, kid: '' }] },
      { keys: [{ ...first, kid: undefined }] },
      { keys: [{ ...first, kty: 'RSA' }] },
      { keys: [{ ...first, crv: 'X25519' }] },
      { keys: [first, { ...second, kid: first.kid }] },
      { keys: [first, first] },
    ];
    for (const set of faulty) {
      expect(faultsOf({ ...valid, TOLLGATE_SIGNING_KEYS: JSON.stringify(set) })).toEqual([
        expect.stringMatching(/^TOLLGATE_SIGNING_KEYS: must be a JWK set/),
      ]);
    }
  });

  it('reports a missing file together with the faults of the environment', () => {
    const path = join(folder, 'missing.yaml');
    expect(faultsOf({ ...valid, TOLLGATE_CONFIG: path })).toEqual([expect.stringMatching(/missing\.yaml: ENOENT/)]);
    expect(faultsOf({ TOLLGATE_CONFIG: path })).toHaveLength(4);
  });

  const edited = (change: (file: File) => unknown) =>
    changed((file) => {
      change(file);
    });
  const premium = (edit: Record<string, unknown>) => edited((file) => Object.assign(file.models.premium ?? {}, edit));
  it.each<[string, string, string]>([
    ['broken YAML', 'models: { premium: [', ': '],
    ['a duplicate key', `${shipped}\nretention: {}\n`, ': Map keys must be unique'],
    ['no content', '', ': '],
    ['a list', '- a', ': '],
    ['an unknown key', edited((file) => Object.assign(file, { limit: {} })), ': Unrecognized key: "limit"'],
    ['an unknown key of a model', premium({ price: 1 }), ', models.premium: Unrecognized key: "price"'],
    ['no model', edited((file) => Object.assign(file, { models: {} })), ', models: must have at least one label'],
    ['a fraction of a micro-dollar', premium({ inputUsdMicrosPer1M: 0.5 }), ', models.premium.inputUsdMicrosPer1M: '],
    ['a price in quotes', premium({ outputUsdMicrosPer1M: '1' }), ', models.premium.outputUsdMicrosPer1M: '],
    [
      'a label with #',
      edited((file) => Object.assign(file.models, { 'a#b': file.models.premium })),
      ', models.a#b: a label must have 1 to 64',
    ],
    ['a model id of 257 characters', premium({ bedrockModelId: 'a'.repeat(257) }), ', models.premium.bedrockModelId: '],
    ['two model ids', premium({ modelId: 'a' }), ', models.premium.modelId: set either modelId or bedrockModelId'],
    [
      'a second price of input',
      premium({ prices: [{ name: 'input', usdMicrosPer1M: 1 }] }),
      ', models.premium.prices.1: has the same name and `above` as an entry before it',
    ],
    [
      'a component with a space',
      premium({ prices: [{ name: 'cache read', usdMicrosPer1M: 1 }] }),
      ', models.premium.prices.0.name: must have 1 to 32',
    ],
    [
      'more than 500 labels',
      edited((file) => {
        const model = file.models.premium;
        file.models = Object.fromEntries(Array.from({ length: 501 }, (_, i) => [`label-${i}`, { ...model }]));
      }),
      ', models: must have at most 500 labels',
    ],
    [
      'a model id with a control character',
      premium({ bedrockModelId: 'a\u0000b' }),
      ', models.premium.bedrockModelId: ',
    ],
    [
      'an FTP price list',
      edited((file) => Object.assign(file, { prices: { source: 'ftp://example.com/prices' } })),
      ', prices.source: must be a path',
    ],
    [
      'a file URL with a host',
      edited((file) => Object.assign(file, { prices: { source: 'file://host/prices' } })),
      ', prices.source: must be a path',
    ],
    ['zero audit days', edited((file) => Object.assign(file.retention, { auditDays: 0 })), ', retention.auditDays: '],
    [
      'zero logins',
      edited((file) => Object.assign(file.login, { perAddressPerMinute: 0 })),
      ', login.perAddressPerMinute: ',
    ],
  ])('reports the fault of a file with %s', (_, text, fault) => {
    const path = fileOf(text);
    const faults = faultsOf({ ...valid, TOLLGATE_CONFIG: path });
    expect(faults).toHaveLength(1);
    expect(faults[0]?.startsWith(path + fault)).toBe(true);
    expect(faults[0]).not.toContain('\n');
  });
});

describe('prices.source', () => {
  const sourceOf = (source: string) =>
    loadConfig({ ...valid, TOLLGATE_CONFIG: fileOf(`${shipped}\nprices:\n  source: ${source}\n`) }).priceSource;

  it.each([
    ['./prices.json', () => join(folder, 'prices.json')],
    ['lists/prices.json', () => join(folder, 'lists/prices.json')],
    ['../prices.json', () => join(folder, '../prices.json')],
    ['/etc/prices.json', () => '/etc/prices.json'],
    ['file:///etc/my%20prices.json', () => '/etc/my prices.json'],
    ['https://example.com/prices.json', () => 'https://example.com/prices.json'],
  ])('resolves %s against the folder of the configuration file', (source, resolved) => {
    expect(sourceOf(source)).toBe(resolved());
  });
});

describe('loadStoreSettings', () => {
  it('needs no secret and reports only faults of the DynamoDB variables', () => {
    expect(loadStoreSettings({})).toMatchObject({ tablePrefix: 'tollgate_' });
    expect(faultsOf({ TABLE_PREFIX: '#', DYNAMODB_ENDPOINT: 'x', PORT: 'x' }, loadStoreSettings)).toEqual([
      expect.stringMatching(/^DYNAMODB_ENDPOINT: /),
      expect.stringMatching(/^TABLE_PREFIX: /),
    ]);
  });
});
