import { readdirSync, readFileSync } from 'node:fs';

const read = (path: string) => readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8');

describe('the guide of the integrations', () => {
  it('shows the modules that the tests of the integrations run, and no other code', () => {
    const folder = 'test/clients/guide';
    const modules = readdirSync(new URL(`../../../${folder}`, import.meta.url)).map((name) =>
      read(`${folder}/${name}`),
    );
    const blocks = [...read('docs/guides/client-integrations.md').matchAll(/```ts\n([\s\S]*?)```/g)];
    expect(blocks.map(([, code]) => code).sort()).toEqual(modules.sort());
  });
});
