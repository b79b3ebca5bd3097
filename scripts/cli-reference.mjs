#!/usr/bin/env node
// Writes the command reference into docs/guides/cli.md, from the declarations of the commands. `test/rules/cli.test.ts`
// fails if it is out of date. Usage: npm run build && node scripts/cli-reference.mjs
import { readFileSync, writeFileSync } from 'node:fs';
import { commandReference } from '../dist/cli/reference.js';

const page = new URL('../docs/guides/cli.md', import.meta.url);
const text = readFileSync(page, 'utf8');
const [before] = text.split('## All commands\n');
writeFileSync(page, `${before}## All commands\n\n${commandReference()}`);
