import { createHash, createHmac } from 'node:crypto';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { SignatureV4 } from '@smithy/signature-v4';
import { leanTransport } from '../../../src/dynamo/lean-transport.js';
import { type StoreEndpoint, sdkTransport, type Transport } from '../../../src/dynamo/transport.js';
import { ManualClock } from '../../support/clock.js';

interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

let server: Server;
let endpoint: string;
let received: Received[];
/** The responses to the next calls. Later calls get an empty success. */
const responses: { readonly status: number; readonly body: string }[] = [];
let environment: NodeJS.ProcessEnv;
const transports: Transport[] = [];

const keys = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY' };
const settings = { region: 'eu-west-1', credentials: keys };
const item = { TableName: 'orgs', Item: { PK: 'ORG#1', name: 'Zoë & Søn 北', count: 12 } };

function tracked(transport: Transport): Transport {
  transports.push(transport);
  return transport;
}

const lean = (store: StoreEndpoint, clock = new ManualClock()): Transport => tracked(leanTransport(store, clock));
const sdk = (store: StoreEndpoint): Transport => tracked(sdkTransport(store));

beforeAll(async () => {
  server = createServer(async (incoming, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming as AsyncIterable<Buffer>) chunks.push(chunk);
    received.push({
      path: incoming.url as string,
      headers: incoming.headers,
      body: Buffer.concat(chunks).toString('utf8'),
    });
    const { status, body } = responses.shift() ?? { status: 200, body: '{}' };
    response.writeHead(status).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
beforeEach(() => {
  received = [];
  environment = { ...process.env };
  for (const name of Object.keys(process.env)) if (name.startsWith('AWS_')) delete process.env[name];
  // Ignore the credentials and settings of this machine.
  Object.assign(process.env, {
    AWS_EC2_METADATA_DISABLED: 'true',
    AWS_CONFIG_FILE: '/dev/null',
    AWS_SHARED_CREDENTIALS_FILE: '/dev/null',
  });
});
afterEach(() => {
  for (const name of Object.keys(process.env)) delete process.env[name];
  Object.assign(process.env, environment);
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

/** The authorization header that the AWS signer computes for a received request. */
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
  const request = await signer.sign(
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
  return request.headers.authorization;
}

describe('leanTransport signs a request like the AWS signer', () => {
  it('with access keys', async () => {
    await lean({ endpoint, ...settings }).send('put', item);
    const [sent] = received as [Received];
    expect(sent.headers.authorization).toMatch(/SignedHeaders=content-type;host;x-amz-date;x-amz-target,/);
    expect(sent.headers.authorization).toBe(await authorizationByAws(sent, keys));
  });

  it('with a session token', async () => {
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

  it('for an endpoint with a path', async () => {
    await lean({ endpoint: `${endpoint}/dynamo`, ...settings }).send('put', item);
    const [sent] = received as [Received];
    expect(sent.path).toBe('/dynamo/');
    expect(sent.headers.authorization).toBe(await authorizationByAws(sent, keys));
  });

  it('with a new signing key per day', async () => {
    const clock = new ManualClock();
    const transport = lean({ endpoint, ...settings }, clock);
    for (let day = 0; day < 3; day++) {
      await transport.send('put', item);
      clock.advance(86_400_000);
    }
    expect(new Set(received.map(({ headers }) => String(headers['x-amz-date']).slice(0, 8))).size).toBe(3);
    for (const sent of received) expect(sent.headers.authorization).toBe(await authorizationByAws(sent, keys));
  });
});

it('loads credentials again after DynamoDB reports that they have expired', async () => {
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
  responses.push({
    status: 400,
    body: JSON.stringify({
      __type: 'com.amazon.coral.service#ExpiredTokenException',
      message: 'The security token included in the request is expired',
    }),
  });
  await expect(transport.send('put', item)).rejects.toThrow('expired');
  await transport.send('put', item);
  expect(received.map(({ headers }) => headers['x-amz-security-token'])).toEqual(['first', 'first', 'first', 'second']);
});

describe.each([
  ['leanTransport', lean],
  ['sdkTransport', sdk],
])('%s', (_, open) => {
  it.each(['AWS_ENDPOINT_URL', 'AWS_ENDPOINT_URL_DYNAMODB'])(
    'sends to the endpoint in %s if the settings name none',
    async (variable) => {
      process.env[variable] = endpoint;
      await open(settings).send('put', item);
      expect(received).toHaveLength(1);
    },
  );

  it('prefers the endpoint in the settings to the environment', async () => {
    process.env.AWS_ENDPOINT_URL = 'http://127.0.0.1:1';
    await open({ endpoint, ...settings }).send('put', item);
    expect(received).toHaveLength(1);
  });

  it('loads credentials again if loading them failed before', async () => {
    const transport = open({ endpoint, region: 'eu-west-1' });
    await expect(transport.send('put', item)).rejects.toThrow('Could not load credentials');
    Object.assign(process.env, { AWS_ACCESS_KEY_ID: keys.accessKeyId, AWS_SECRET_ACCESS_KEY: keys.secretAccessKey });
    await transport.send('put', item);
    expect(received.map(({ headers }) => headers.authorization)).toEqual([
      expect.stringContaining(`Credential=${keys.accessKeyId}/`),
    ]);
  });
});
