import { isLocalEngine, type StoreSettings } from '../config.js';
import { checkTables, type TableAdmin } from '../dynamo/table-admin.js';
import { adminClient } from '../dynamo/transport.js';

/** The client that creates and checks tables. Protects tables on AWS against deletion. */
export const tableAdmin = (settings: StoreSettings): TableAdmin => ({
  client: adminClient(settings),
  prefix: settings.tablePrefix,
  protect: !isLocalEngine(settings.endpoint),
});

/** Throws an error that names every problem if the tables cannot be used. */
export async function requireTables(settings: StoreSettings): Promise<void> {
  const problems = await checkTables(tableAdmin(settings));
  if (problems.length > 0)
    throw new Error(`the tables cannot be used:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`);
}
