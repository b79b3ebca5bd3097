import { readdirSync, readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { configurationPage, fileKeysOf, variablesOf } from '../../scripts/configuration-page.mjs';
import { environmentGroups, environmentSchema } from '../../src/config-env-schema.js';
import { fileSchema } from '../../src/config-file-schema.js';

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
const shipped: unknown = parse(read('config.yaml'));

it('has an up-to-date docs/configuration.md', () => {
  expect(configurationPage({ groups: environmentGroups, fileSchema, shipped })).toBe(read('docs/configuration.md'));
});

it('shows every environment variable in one group of the page', () => {
  const grouped = Object.values(environmentGroups).flatMap((shape) => Object.keys(shape));
  expect(grouped.sort()).toEqual(Object.keys(environmentSchema.shape).sort());
});

it('describes every environment variable, and says what applies if it is not set', () => {
  const variables = variablesOf(environmentSchema.shape);
  expect(variables.length).toBeGreaterThan(25);
  expect(variables.filter(({ description }) => !description?.trim()).map(({ name }) => name)).toEqual([]);
  expect(variables.filter(({ standard }) => !standard?.trim()).map(({ name }) => name)).toEqual([]);
});

it('describes every key of the configuration file', () => {
  const keys = fileKeysOf(fileSchema);
  expect(keys.length).toBeGreaterThan(20);
  expect(keys.filter(({ description }) => !description?.trim()).map(({ path }) => path.join('.'))).toEqual([]);
});

it('reads no environment variable that the page does not show', () => {
  const root = new URL('../../src/', import.meta.url);
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.ts'));
  const sources = files.map((path) => read(`src/${path}`)).join('\n');
  const named = [...sources.matchAll(/(?<!process\.)\b(?:env|environment|given)\.([A-Z][A-Z0-9_]+)\b/g)].map(
    ([, name]) => name,
  );
  expect(named.length).toBeGreaterThan(20);
  // Variables of the command line alone are on its own page.
  const ofCommandLine = read('docs/guides/cli.md').match(/(?<=`)TOLLGATE_\w+(?=`)/g) ?? [];
  const shown = [...Object.keys(environmentSchema.shape), ...ofCommandLine];
  expect(named.filter((name) => !shown.includes(name ?? ''))).toEqual([]);
});
