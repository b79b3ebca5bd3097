// Writes schema.graphql from the code; with --check, fails if what is committed is stale.
import { readFileSync, writeFileSync } from 'node:fs';
import { printSchema } from 'graphql';
import { createSchema } from '../dist/graphql/schema.js';

const path = new URL('../schema.graphql', import.meta.url);
const printed = `${printSchema(await createSchema())}\n`;
if (!process.argv.includes('--check')) {
  writeFileSync(path, printed);
} else if (readFileSync(path, 'utf8') !== printed) {
  console.error('schema.graphql is stale: run `npm run schema` and commit it');
  process.exit(1);
}
