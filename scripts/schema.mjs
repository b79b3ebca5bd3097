// Writes schema.graphql from the code. With --check, fails if the committed file is stale.
import { readFileSync, writeFileSync } from 'node:fs';
import { printSchema } from 'graphql';
import { createSchema } from '../dist/graphql/schema.js';

const path = new URL('../schema.graphql', import.meta.url);
const printed = `${printSchema(await createSchema())}\n`;
if (!process.argv.includes('--check')) {
  writeFileSync(path, printed);
} else if (readFileSync(path, 'utf8') !== printed) {
  console.error('schema.graphql is stale; run `npm run schema` and commit the file');
  process.exit(1);
}
