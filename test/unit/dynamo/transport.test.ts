import { createHash, createHmac } from 'node:crypto';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { SignatureV4 } from '@smithy/signature-v4';
import { leanTransport } from '../../../src/dynamo/lean-transport.js';
import { type StoreEndpoint, sdkTransport, type Transport } from '../../../src/dynamo/transport.js';
import { TestClock } from '../../support/clock.js';

interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

let server: Server;
let endpoint: string;
let received: Received[];
/** What the next calls are told; those after them, that all is well. */
const answers: { readonly status: number; readonly body: string }[] = [];
let environment: NodeJS.ProcessEnv;
const transports: Transport[] = [];

const keys = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY' };
const settings = { region: 'eu-west-1', credentials: keys };
const item = { TableName: 'orgs', Item: { PK: 'ORG#1', name: 'Zoë & Søn 北', count: 12 } };

function kept(transport: Transport): Transport {
  transports.push(transport);
  return transport;
}

const lean = (store: StoreEndpoint, clock = new TestClock()): Transport => kept(leanTransport(store, clock));
const sdk = (store: StoreEndpoint): Transport => kept(sdkTransport(store));

beforeAll(async () => {
  server = createServer(async (incoming, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming as AsyncIterable<Buffer>) chunks.push(chunk);
    received.push({
      path: incoming.url as string,
      headers: incoming.headers,
      body: Buffer.concat(chunks).toString('utf8'),
    });
    const { status, body } = answers.shift() ?? { status: 200, body: '{}' };
    response.writeHead(status).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
beforeEach(() => {
  received = [];
  environment = { ...process.env };
  for (const name of Object.keys(process.env)) if (name.startsWith('AWS_')) delete process.env[name];
  // Nothing of the machine's own.
  Object.assign(process.env, {
    AWS_EC2_METADATA_DISABLED: 'true',
    AWS_CONFIG_FILE: '/dev/null',
    AWS_SHARED_CREDENTIALS_FILE: '/dev/null',
  });
});
afterEach(() => {
  process.env = environment;
  for (const transport of transports.splice(0)) transport.close();
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

class Sha256 {
  private readonly hash;

  constructor(secret?: unknown) {
    this.hash = secret === undefined ? createHash('sha256') : createHmac('sha256', secret as Uint8Array);
  }

  update(data: string | Uint8Array): void {
    this.hash.update(data);
  }

  async digest(): Promise<Uint8Array> {
    return new Uint8Array(this.hash.digest());
  }

  reset(): void {
    throw new Error('not needed');
  }
}

/** The header of AWS's own signer for what was received. */
async function authorizationByAws({ path, headers, body }: Received, credentials: object): Promise<string | undefined> {
  const signed = /SignedHeaders=([^,]*)/.exec(String(headers.authorization))?.[1]?.split(';') ?? [];
  const [, date, time] = /^(\d{8})T(\d{6})Z$/.exec(String(headers['x-amz-date'])) ?? [];
  const signer = new SignatureV4({
    service: 'dynamodb',
    region: 'eu-west-1',
    credentials: credentials as typeof keys,
    sha256: Sha256,
    applyChecksum: false,
  });
  const again = await signer.sign(
    {
      method: 'POST',
      protocol: 'http:',
      hostname: '127.0.0.1',
      path,
      query: {},
      headers: Object.fromEntries(signed.map((name) => [name, String(headers[name])])),
      body,
    },
    { signingDate: new Date(`${date}T${time}Z`.replace(/^(....)(..)(..)T(..)(..)(..)Z$/, '$1-$2-$3T$4:$5:$6Z')) },
  );
  return again.headers.authorization;
}

describe('what is sent is signed as AWS signs it', () => {
  it('with keys alone', async () => {
    await lean({ endpoint, ...settings }).send('put', item);
    const [sent] = received as [Received];
    expect(sent.headers.authorization).toMatch(/SignedHeaders=content-type;host;x-amz-date;x-amz-target,/);
    expect(sent.headers.authorization).toBe(await authorizationByAws(sent, keys));
  });

  it('with the token of a session', async () => {
    Object.assign(process.env, {
      AWS_ACCESS_KEY_ID: keys.accessKeyId,
      AWS_SECRET_ACCESS_KEY: keys.secretAccessKey,
      AWS_SESSION_TOKEN: 'a/session+token==',
    });
    await lean({ endpoint, region: 'eu-west-1' }).send('put', item);
    const [sent] = received as [Received];
    expect(sent.headers['x-amz-security-token']).toBe('a/session+token==');
    expect(sent.headers.authorization).toContain('x-amz-security-token');
    expect(sent.headers.authorization).toBe(
      await authorizationByAws(sent, { ...keys, sessionToken: 'a/session+token==' }),
    );
  });

  it('under a path of a proxy', async () => {
    await lean({ endpoint: `${endpoint}/dynamo`, ...settings }).send('put', item);
    const [sent] = received as [Received];
    expect(sent.path).toBe('/dynamo/');
    expect(sent.headers.authorization).toBe(await authorizationByAws(sent, keys));
  });

  it('by a key of each day', async () => {
    const clock = new TestClock();
    const transport = lean({ endpoint, ...settings }, clock);
    for (let day = 0; day < 3; day++) {
      await transport.send('put', item);
      clock.advance(86_400_000);
    }
    expect(new Set(received.map(({ headers }) => String(headers['x-amz-date']).slice(0, 8))).size).toBe(3);
    for (const sent of received) expect(sent.headers.authorization).toBe(await authorizationByAws(sent, keys));
  });
});

it('credentials that the store calls expired are asked for again', async () => {
  const session = (AWS_SESSION_TOKEN: string) =>
    Object.assign(process.env, {
      AWS_ACCESS_KEY_ID: keys.accessKeyId,
      AWS_SECRET_ACCESS_KEY: keys.secretAccessKey,
      AWS_SESSION_TOKEN,
    });
  const transport = lean({ endpoint, region: 'eu-west-1' });
  session('first');
  await transport.send('put', item);
  session('second');
  await transport.send('put', item);
  answers.push({
    status: 400,
    body: '{"__type":"com.amazon.coral.service#ExpiredTokenException","message":"The security token included in the request is expired"}',
  });
  await expect(transport.send('put', item)).rejects.toThrow('expired');
  await transport.send('put', item);
  expect(received.map(({ headers }) => headers['x-amz-security-token'])).toEqual(['first', 'first', 'first', 'second']);
});

describe.each([
  ['the lean transport', lean],
  ['the SDK', sdk],
])('where %s sends it', (_, open) => {
  it.each(['AWS_ENDPOINT_URL', 'AWS_ENDPOINT_URL_DYNAMODB'])(
    'is what %s says, where the settings name nothing',
    async (variable) => {
      process.env[variable] = endpoint;
      await open(settings).send('put', item);
      expect(received).toHaveLength(1);
    },
  );

  it('is what the settings name, whatever the environment says', async () => {
    process.env.AWS_ENDPOINT_URL = 'http://127.0.0.1:1';
    await open({ endpoint, ...settings }).send('put', item);
    expect(received).toHaveLength(1);
  });

  it('is found out again, and with it who sends it, if that failed before', async () => {
    const transport = open({ endpoint, region: 'eu-west-1' });
    await expect(transport.send('put', item)).rejects.toThrow('Could not load credentials');
    Object.assign(process.env, { AWS_ACCESS_KEY_ID: keys.accessKeyId, AWS_SECRET_ACCESS_KEY: keys.secretAccessKey });
    await transport.send('put', item);
    expect(received.map(({ headers }) => headers.authorization)).toEqual([
      expect.stringContaining(`Credential=${keys.accessKeyId}/`),
    ]);
  });
});
