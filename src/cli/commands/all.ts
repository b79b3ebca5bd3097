// All commands of the API. Each is one declaration: its document, arguments and columns.
import type { CliCommand } from '../api/command.js';
import { admissionCommands } from './admissions.js';
import { budgetCommands } from './budgets.js';
import { deviceCommands } from './devices.js';
import { entityCommands } from './entities.js';
import { identityCommands } from './identity.js';
import { limitCommands } from './limits.js';
import { orgCommands } from './orgs.js';
import { spendCommands } from './spend.js';

export const apiCommands: readonly CliCommand[] = [
  ...identityCommands,
  ...orgCommands,
  ...spendCommands,
  ...admissionCommands,
  ...budgetCommands,
  ...limitCommands,
  ...entityCommands,
  ...deviceCommands,
];

/** The text of a group of commands in the help. */
export const groupTexts: Readonly<Record<string, string>> = {
  org: 'Orgs and their settings.',
  app: 'Apps of an org.',
  client: 'Clients with a role.',
  key: 'API keys of devices.',
  audit: 'The audit trail.',
  managed: 'What configuration files manage.',
  spend: 'Spend, model selection and exports.',
  cost: 'Recorded costs and corrections.',
  admission: 'Calls that are admitted before they are made.',
  budget: 'Budgets by day, week and month.',
  model: 'The catalog of models.',
  price: 'Prices of an org.',
  limit: 'Limits of all levels.',
  lease: 'Leases on tokens.',
  entity: 'Entities, their availability and usage.',
  device: 'Devices and their readings.',
  alert: 'Alerts about quotas and budgets.',
  context: 'Gateways and the credentials for them.',
};

const byPrograms = 'Programs call it, through the client library.';

/** Why a field of the schema has no command. */
export const withoutCommand: Readonly<Record<string, string>> = {
  'Query.node': 'Every kind of object has a command of its own, by its own id.',
  'Mutation.issueToken': '`login` and every command log in.',
  'Mutation.refreshToken': 'The command line logs in again instead of keeping a session.',
  'Mutation.revokeToken': '`logout` does it.',
  'Mutation.retrieveSecret': '`create` and `rotate` do it and print the secret once.',
  'Mutation.setManagedItems': '`apply` does it.',
  'Mutation.registerDevice': 'The device sends it, with its API key.',
  'Mutation.ingest': 'The device sends it, with its API key.',
  'Mutation.acquireAll': `${byPrograms} \`lease acquire\` takes from one bucket.`,
  'Mutation.submitCosts': `${byPrograms} \`cost submit\` records one cost.`,
};
