import { parseArgs } from 'node:util';
import { type Environment, loadStoreSettings } from '../config.js';
import { help } from './help.js';
import { requireTables, tableAdmin } from './store-tables.js';

export async function tables(args: readonly string[], environment: Environment): Promise<void> {
  const { positionals, values } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { template: { type: 'boolean', default: false } },
  });
  const settings = loadStoreSettings(environment);
  const { createTables, migrateTables } = await import('../dynamo/table-admin.js');
  switch (positionals[0]) {
    case 'create': {
      if (values.template) {
        const { cloudFormationTemplate } = await import('../dynamo/template.js');
        process.stdout.write(`${JSON.stringify(cloudFormationTemplate(settings.tablePrefix), null, 2)}\n`);
        return;
      }
      const made = await createTables(await tableAdmin(settings));
      process.stdout.write(made.length > 0 ? `created ${made.join(', ')}\n` : 'all tables are there\n');
      return;
    }
    case 'check':
      await requireTables(settings);
      process.stdout.write('all tables are there and fit this version\n');
      return;
    case 'migrate':
      process.stdout.write(`${await migrateTables(await tableAdmin(settings))}\n`);
      return;
    default:
      process.stderr.write(`${help.tables}\n`);
      process.exitCode = 2;
  }
}
