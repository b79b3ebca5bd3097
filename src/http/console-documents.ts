import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { GraphQLParams } from '../graphql/operations.js';
import { badInput, GatewayError } from '../lib/errors.js';
import type { Log } from '../lib/log.js';
import { bodyParams, isRecord } from './request.js';

/** The documents of this release of the console, and of the previous one, whose pages may still be open. */
export const manifestNames = ['documents.json', 'documents.previous.json'];
const idPattern = /^(?:sha256:)?([0-9a-f]{64})$/;

/** The documents that sessions of the console may run, by their SHA-256 in hexadecimal. */
export type ConsoleDocuments = ReadonlyMap<string, string>;

/** Reads the manifests of the console's folder. A manifest that is missing or not valid allows nothing. */
export async function loadDocuments(dir: string, log: Log): Promise<ConsoleDocuments> {
  const documents = new Map<string, string>();
  for (const name of manifestNames) {
    const text = await readFile(join(dir, name), 'utf8').catch(() => undefined);
    if (text === undefined) continue;
    try {
      for (const [id, document] of parseManifest(text)) documents.set(id, document);
    } catch (error) {
      log.error({ err: error, file: join(dir, name) }, 'the documents of the console are not valid');
    }
  }
  return documents;
}

/** Throws unless the manifest is an object whose keys are the SHA-256 of their documents. */
export function parseManifest(text: string): [id: string, document: string][] {
  const manifest = JSON.parse(text) as unknown;
  if (!isRecord(manifest)) throw new Error('the manifest is not an object');
  return Object.entries(manifest).map(([id, document]) => {
    const isOwn = typeof document === 'string' && createHash('sha256').update(document).digest('hex') === id;
    if (!isOwn) throw new Error(`${id.slice(0, 80)} is not the SHA-256 of its document`);
    return [id, document];
  });
}

/** The operation of a session of the console: one of its documents. */
export function consoleParams(documents: ConsoleDocuments, body: unknown): GraphQLParams {
  const { documentId, ...others } = isRecord(body) ? body : {};
  if (others.query !== undefined)
    throw new GatewayError(
      'FORBIDDEN',
      'a session of the console may run only the documents of the console: send documentId instead of query',
    );
  const [, id = ''] = typeof documentId === 'string' ? (idPattern.exec(documentId) ?? []) : [];
  const query = documents.get(id);
  if (query === undefined)
    throw badInput({ path: 'documentId', message: 'must be a document of this console; reload the page' });
  return bodyParams({ ...others, query });
}
