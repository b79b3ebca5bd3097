import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadDocuments, parseManifest } from '../../../src/http/console-documents.js';
import { loadConsoleFiles } from '../../../src/http/console-files.js';
import { isConsoleRequest, requireConsoleRequest, sessionCookie } from '../../../src/http/console-request.js';
import { GatewayError } from '../../../src/lib/errors.js';
import { collectingLog } from '../../support/http.js';

type Config = Parameters<typeof requireConsoleRequest>[0];
const config: Config = { console: { dir: 'x' }, production: false, host: '127.0.0.1', trustProxy: false };
const requestWith = (headers: Record<string, string>, method = 'POST') => ({ method, headers }) as IncomingMessage;

it.each<[string, Partial<Config>, boolean]>([
  ['development on a loopback address', {}, false],
  ['development on ::1', { host: '::1' }, false],
  ['development on localhost', { host: 'localhost' }, false],
  ['development on all addresses', { host: '0.0.0.0' }, true],
  ['development behind TLS', { publicUrl: 'https://tollgate.example.com' }, true],
  ['development with a plain public URL', { publicUrl: 'http://127.0.0.1:4000' }, false],
  ['production', { production: true }, true],
])('makes the cookie secure as needed: %s', (_where, change, isSecure) => {
  expect(sessionCookie({ ...config, ...change }, 'tgc_x')).toBe(
    isSecure
      ? '__Host-tollgate=tgc_x; Path=/; HttpOnly; SameSite=Strict; Secure'
      : 'tollgate=tgc_x; Path=/; HttpOnly; SameSite=Strict',
  );
});

describe('the origin of a request without Sec-Fetch-Site', () => {
  const proxied = { host: 'inner:4000', 'x-forwarded-host': 'tollgate.example.com', 'x-forwarded-proto': 'https' };

  it.each<[string, Partial<Config>, Record<string, string>, boolean]>([
    ['is that of its host', {}, { host: 'a.example:4000', origin: 'http://a.example:4000' }, true],
    ['is not another port', {}, { host: 'a.example:4000', origin: 'http://a.example' }, false],
    ['is not another scheme', {}, { host: 'a.example', origin: 'https://a.example' }, false],
    ['is that of a trusted proxy', { trustProxy: true }, { ...proxied, origin: 'https://tollgate.example.com' }, true],
    ['is not that of a proxy without trust', {}, { ...proxied, origin: 'https://tollgate.example.com' }, false],
    ['is PUBLIC_URL', { publicUrl: 'https://b.example' }, { host: 'a.example', origin: 'https://b.example' }, true],
    ['is not its host beside PUBLIC_URL', { publicUrl: 'https://b.example' }, { host: 'a', origin: 'http://a' }, false],
    ['is required', {}, { host: 'a.example' }, false],
  ])('%s', (_what, change, headers, isAllowed) => {
    const check = () =>
      requireConsoleRequest({ ...config, ...change }, requestWith({ 'x-tollgate-console': '1', ...headers }));
    if (isAllowed) expect(check).not.toThrow();
    else expect(check).toThrow(GatewayError);
  });
});

it('asks for the session only by x-tollgate-console: 1, and never if the console is off', () => {
  const { console: _console, ...off } = config;
  expect(isConsoleRequest(config, requestWith({ 'x-tollgate-console': '1' }))).toBe(true);
  expect(isConsoleRequest(off, requestWith({ 'x-tollgate-console': '1' }))).toBe(false);
  for (const headers of [
    {},
    { 'x-tollgate-console': '1, 1' },
    { 'x-tollgate-console': 'true' },
    { cookie: 'tollgate=x' },
  ])
    expect(isConsoleRequest(config, requestWith(headers as Record<string, string>))).toBe(false);
});

describe('the files of the console', () => {
  const dir = mkdtempSync(join(tmpdir(), 'tollgate-files-'));
  afterAll(() => rmSync(dir, { recursive: true }));

  it('are at most 500, with 16 MB in all', async () => {
    expect((await loadConsoleFiles(join(dir, 'none'))).size).toBe(0);
    mkdirSync(join(dir, 'assets'));
    for (let i = 0; i < 499; i++) writeFileSync(join(dir, 'assets', `${i}.js`), '');
    writeFileSync(join(dir, 'large.bin'), Buffer.alloc(16 * 1024 * 1024));
    expect((await loadConsoleFiles(dir)).size).toBe(500);
    writeFileSync(join(dir, 'assets', '0.js'), 'x');
    await expect(loadConsoleFiles(dir)).rejects.toThrow('larger than 16777216 bytes');
    writeFileSync(join(dir, 'one-more.js'), '');
    await expect(loadConsoleFiles(dir)).rejects.toThrow('more than 500 files');
  });
});

describe('a manifest', () => {
  const document = 'query Me { me { kind } }';
  const id = createHash('sha256').update(document).digest('hex');
  const valid = JSON.stringify({ [id]: document });

  it.each([
    ['no JSON', '{'],
    ['a list', '[]'],
    ['a document under another id', JSON.stringify({ [id]: `${document} ` })],
    ['a document that is no text', JSON.stringify({ [id]: { document } })],
    ['one wrong document among others', JSON.stringify({ [id]: document, x: 'query { me }' })],
  ])('is refused: %s', (_what, text) => {
    expect(() => parseManifest(text)).toThrow();
  });

  it('that is refused or missing allows nothing, and does not disturb the other one', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'tollgate-manifest-'));
    const { log, records } = collectingLog();
    expect((await loadDocuments(dir, log)).size).toBe(0);
    expect(records('the documents of the console are not valid')).toEqual([]);
    writeFileSync(join(dir, 'documents.json'), '{');
    writeFileSync(join(dir, 'documents.previous.json'), valid);
    expect([...(await loadDocuments(dir, log))]).toEqual([[id, document]]);
    expect(records('the documents of the console are not valid')).toHaveLength(1);
    rmSync(dir, { recursive: true });
  });
});
