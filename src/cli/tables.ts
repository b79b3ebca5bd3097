import { type Environment, loadStoreSettings, type StoreSettings } from '../config.js';
import { createTables, migrateTables } from '../dynamo/table-admin.js';
import { cloudFormationTemplate } from '../dynamo/template.js';
import { help, UsageError } from './help.js';
import { requireTables, tableAdmin } from './store-tables.js';

/** Creates, checks or migrates the tables, or prints a CloudFormation template. */
export async function tables(
  { action = '', template }: { readonly action?: string; readonly template?: boolean },
  environment: Environment,
): Promise<void> {
  const settings = loadStoreSettings(environment);
  process.stdout.write(`${await run(template && action === 'create' ? 'template' : action, settings)}\n`);
}

/** Runs one action and returns its report. */
async function run(action: string, settings: StoreSettings): Promise<string> {
  switch (action) {
    case 'template':
      return JSON.stringify(cloudFormationTemplate(settings.tablePrefix), null, 2);
    case 'create': {
      const created = await createTables(tableAdmin(settings));
      return created.length > 0 ? `created ${created.join(', ')}` : 'all tables exist already';
    }
    case 'check':
      await requireTables(settings);
      return 'all tables exist and match this version';
    case 'migrate':
      return migrateTables(tableAdmin(settings));
    default:
      throw new UsageError(`name an action of \`tables\`\n\n${help.tables}`);
  }
}
