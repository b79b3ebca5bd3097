import { isLocalEngine, type StoreSettings } from '../config.js';

/** The client that creates and checks tables. */
export async function tableAdmin(settings: StoreSettings) {
  const { adminClient } = await import('../dynamo/transport.js');
  return { client: adminClient(settings), prefix: settings.tablePrefix, protect: !isLocalEngine(settings.endpoint) };
}

/** Throws, naming every fault, if the tables cannot be used. */
export async function requireTables(settings: StoreSettings): Promise<void> {
  const { checkTables } = await import('../dynamo/table-admin.js');
  const faults = await checkTables(await tableAdmin(settings));
  if (faults.length > 0)
    throw new Error(`the store cannot be used:\n${faults.map((fault) => `  - ${fault}`).join('\n')}`);
}
