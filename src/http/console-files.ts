import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { extname, join, relative, sep } from 'node:path';
import { manifestNames } from './console-documents.js';

const maxFiles = 500;
const maxBytes = 16 * 1024 * 1024;
const encodings = { '.br': 'br', '.gz': 'gzip' } as const;
const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.map': 'application/json; charset=utf-8',
  '.txt': 'text/plain; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.webmanifest': 'application/manifest+json',
  '.woff2': 'font/woff2',
};
/** The build puts a hash of the content into these names, so that a name never gets another content. */
const hashedName = /^assets\/(?:.*\/)?[^/]+-[A-Za-z0-9_-]{8,}\.[a-z0-9]+$/;

export type ContentEncoding = (typeof encodings)[keyof typeof encodings] | 'identity';

/** One encoding of a file. */
export interface FileVariant {
  readonly body: Buffer;
  readonly etag: string;
}

export interface ConsoleFile {
  readonly contentType: string;
  readonly isImmutable: boolean;
  readonly variants: ReadonlyMap<ContentEncoding, FileVariant>;
}

/** The files of the console by their path within it. */
export type ConsoleFiles = ReadonlyMap<string, ConsoleFile>;

/**
 * Reads all files of a folder, because they are few and small. Empty if there is no such folder. Requests are looked up
 * in the result and never reach the file system. Links are skipped: they may lead out of the folder.
 */
export async function loadConsoleFiles(dir: string): Promise<ConsoleFiles> {
  const entries = await readdir(dir, { recursive: true, withFileTypes: true }).catch(() => []);
  const names = entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(dir, join(entry.parentPath, entry.name)).split(sep).join('/'))
    .filter((name) => !manifestNames.includes(name));
  if (names.length > maxFiles) throw new Error(`the console in ${dir} has more than ${maxFiles} files`);
  const bodies = new Map<string, Buffer>();
  let bytes = 0;
  for (const name of names) {
    const body = await readFile(join(dir, name));
    bytes += body.length;
    if (bytes > maxBytes) throw new Error(`the console in ${dir} is larger than ${maxBytes} bytes`);
    bodies.set(name, body);
  }
  return new Map(names.filter((name) => !(extname(name) in encodings)).map((name) => [name, fileOf(name, bodies)]));
}

function fileOf(name: string, bodies: ReadonlyMap<string, Buffer>): ConsoleFile {
  const variants = new Map<ContentEncoding, FileVariant>([['identity', variantOf(bodies.get(name) as Buffer)]]);
  for (const [suffix, encoding] of Object.entries(encodings)) {
    const body = bodies.get(name + suffix);
    if (body) variants.set(encoding, variantOf(body));
  }
  return {
    contentType: types[extname(name)] ?? 'application/octet-stream',
    isImmutable: hashedName.test(name),
    variants,
  };
}

const variantOf = (body: Buffer): FileVariant => ({
  body,
  etag: `"${createHash('sha256').update(body).digest('base64url')}"`,
});
