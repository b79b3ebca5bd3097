// Builds the web console into dist/console: the pages, their compressed forms, and the manifest of documents.
// An unchanged console is not built again, because most commands build first.
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';

const root = new URL('../', import.meta.url).pathname;
const source = join(root, 'console');
const output = join(root, 'dist', 'console');
const stamp = join(root, 'dist', 'console.stamp');
const compressible = ['.html', '.js', '.css', '.svg', '.json'];

const filesIn = (folder) =>
  readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();

/** Changes with every file that the result depends on. */
function fingerprint() {
  const hash = createHash('sha256');
  for (const file of [...filesIn(source), join(root, 'package-lock.json'), new URL(import.meta.url).pathname])
    hash.update(file.slice(root.length)).update('\0').update(readFileSync(file)).update('\0');
  return hash.digest('hex');
}

function isBuilt(wanted) {
  try {
    return readFileSync(stamp, 'utf8') === wanted && readFileSync(join(output, 'index.html')).length > 0;
  } catch {
    return false;
  }
}

/** Writes a manifest with the bare hash as the key of each document, as the gateway reads it. */
function writeManifest(from, name) {
  if (!existsSync(from)) return;
  const documents = Object.entries(JSON.parse(readFileSync(from, 'utf8')));
  const byHash = documents.map(([id, text]) => [id.replace('sha256:', ''), text]);
  writeFileSync(join(output, name), JSON.stringify(Object.fromEntries(byHash)));
}

function compress(file) {
  const bytes = readFileSync(file);
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
    [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
  };
  writeFileSync(`${file}.br`, brotliCompressSync(bytes, { params }));
  writeFileSync(`${file}.gz`, gzipSync(bytes, { level: constants.Z_BEST_COMPRESSION }));
}

const wanted = fingerprint();
if (!isBuilt(wanted)) {
  rmSync(stamp, { force: true });
  const { build } = await import('vite');
  await build({ configFile: join(source, 'vite.config.js') });
  writeManifest(join(source, 'src', 'gql', 'persisted-documents.json'), 'documents.json');
  // The documents of the last release, so that pages that are open during an upgrade keep working.
  writeManifest(join(source, 'documents.previous.json'), 'documents.previous.json');
  for (const file of filesIn(output)) if (compressible.includes(extname(file))) compress(file);
  writeFileSync(stamp, wanted);
}
