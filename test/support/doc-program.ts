import { mkdtempSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** Pages whose TypeScript examples are one program each. */
export const programPages = ['client/README.md', 'docs/guides/client.md'];

/** The TypeScript examples of a page, in order. */
export const programOf = (page: string): string =>
  [...readFileSync(join(root, page), 'utf8').matchAll(/^ *```ts\n([\s\S]*?)^ *```/gm)]
    .map(([, block = '']) => block)
    .join('\n');

/** A folder with these files, in which packages are resolved as in the root. */
export function folderWith(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'client-'));
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return folder;
}
