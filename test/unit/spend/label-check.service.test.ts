import { type Log, silentLog } from '../../../src/lib/log.js';
import type { Org } from '../../../src/orgs/settings.js';
import { LabelCheckService } from '../../../src/spend/label-check.service.js';

it('reads at most 1000 orgs and logs at most 20 of them', async () => {
  const lines: Record<string, unknown>[] = [];
  const log: Log = { ...silentLog, warn: (line: unknown) => void lines.push(line as Record<string, unknown>) };
  let read = 0;
  const listOrgs = async (limit: number) => {
    read += limit;
    return Array.from(
      { length: limit },
      (_, i) =>
        ({
          orgId: `org-${i}`,
          modelOrdering: ['removed'],
          quotas: [{ label: 'removed', dailyUsdMicros: 1 }],
        }) as unknown as Org,
    );
  };
  await new LabelCheckService({ orgs: { listOrgs }, catalog: new Map(), log }).run();
  expect(read).toBe(1000);
  expect(lines).toHaveLength(1);
  expect(lines[0]).toMatchObject({ count: 1000, checked: 1000 });
  expect(lines[0]?.orgs).toHaveLength(20);
});
