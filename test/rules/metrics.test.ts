import { readFileSync } from 'node:fs';
import { Metrics } from '../../src/lib/metrics.js';

it('documents every metric in docs/operations.md, and no other', async () => {
  const page = readFileSync(new URL('../../docs/operations.md', import.meta.url), 'utf8');
  const rows = [...page.matchAll(/^\| `(tollgate_[a-z_]+)` \|([^|]*)\|/gm)].map(
    ([, name, labels]) => `${name} ${labels?.trim()}`,
  );
  const metrics = new Metrics().registry.getMetricsAsArray() as unknown as { name: string; labelNames: string[] }[];
  const documented = metrics.map(
    ({ name, labelNames }) => `${name} ${labelNames.map((label) => `\`${label}\``).join(', ')}`,
  );
  expect(rows.map((row) => row.trim()).sort()).toEqual(documented.map((row) => row.trim()).sort());
});
