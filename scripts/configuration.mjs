// Writes docs/configuration.md from the schemas in dist/. With --check, fails if the committed page is stale.
import { readFileSync, writeFileSync } from 'node:fs';
import { parse } from 'yaml';
import { environmentGroups } from '../dist/config-env-schema.js';
import { fileSchema } from '../dist/config-file-schema.js';
import { configurationPage } from './configuration-page.mjs';

const path = new URL('../docs/configuration.md', import.meta.url);
const shipped = parse(readFileSync(new URL('../config.yaml', import.meta.url), 'utf8'));
const page = configurationPage({ groups: environmentGroups, fileSchema, shipped });
if (!process.argv.includes('--check')) {
  writeFileSync(path, page);
} else if (readFileSync(path, 'utf8') !== page) {
  console.error(
    'docs/configuration.md is stale; run `npm run build && node scripts/configuration.mjs` and commit the page',
  );
  process.exit(1);
}
