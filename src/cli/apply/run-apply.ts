import { readFileSync, writeFileSync } from 'node:fs';
import { systemClock } from '../../lib/clock.js';
import { connected } from '../account.js';
import { confirmed, processTerminal } from '../api/prompt.js';
import { refusedCode } from '../api/run.js';
import type { GlobalOptions } from '../api/session.js';
import type { CliProcess } from '../program.js';
import { StepDisplay } from '../progress.js';
import { diffText, planText } from './diff.js';
import { applyPlan, changeCount, conflictCount, planFile, type TenantPlan } from './engine.js';
import { exportedTenants, exportTenant } from './export.js';
import { type ConfigFile, configFileText, parseConfigFile } from './file.js';
import { changesIn } from './plan.js';
import { ApplyTarget } from './target.js';

const changesPendingCode = 2;

interface ApplyCliOptions extends GlobalOptions {
  readonly file: string;
  readonly prune?: boolean;
  readonly yes?: boolean;
  readonly forceConflicts?: boolean;
}

interface PlannedFile {
  readonly file: ConfigFile;
  readonly plans: readonly TenantPlan[];
}

async function planned(options: ApplyCliOptions, { environment }: CliProcess): Promise<PlannedFile> {
  const file = parseConfigFile(readText(options.file));
  const { session, api } = await connected(environment, options);
  const deps = { api, clock: systemClock };
  const { orgId: own } = session;
  const plans = await planFile(
    file,
    ({ orgId = own, isPlatform }) =>
      new ApplyTarget(deps, isPlatform ? { isPlatform } : orgId === undefined ? {} : { orgId }),
    { prune: options.prune === true, force: options.forceConflicts === true },
  );
  return { file, plans };
}

function readText(path: string): string {
  try {
    return readFileSync(path === '-' ? 0 : path, 'utf8');
  } catch (error) {
    throw new Error(`cannot read ${path}; name the file with -f, or write one with: tollgate export -f ${path}`, {
      cause: error,
    });
  }
}

const textOf = (plans: readonly TenantPlan[], show: typeof planText): string =>
  plans.map(({ steps, target }) => show(steps, target.title)).join('');

export async function runPlan(options: ApplyCliOptions, cli: CliProcess): Promise<number> {
  const { plans } = await planned(options, cli);
  cli.print(textOf(plans, planText));
  return reported(plans, cli, changesPendingCode);
}

export async function runDiff(options: ApplyCliOptions, cli: CliProcess): Promise<number> {
  const { plans } = await planned(options, cli);
  cli.print(textOf(plans, diffText));
  return reported(plans, cli, 0);
}

/** Prints the sum of a plan. Returns the exit code. */
function reported(plans: readonly TenantPlan[], { print }: CliProcess, pendingCode: number): number {
  const [changes, conflicts] = [changeCount(plans), conflictCount(plans)];
  if (conflicts > 0) {
    print(`${counted(conflicts, 'conflict')}. Nothing was changed. ${conflictAdvice}\n`);
    return refusedCode;
  }
  print(changes === 0 ? 'No changes.\n' : `${counted(changes, 'change')}.\n`);
  return changes === 0 ? 0 : pendingCode;
}

const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;
const conflictAdvice =
  'See both sides with `tollgate diff`. Copy what you want to keep into the file, apply it, then make your change. ' +
  'Or overwrite the changes of others with `tollgate apply --force-conflicts`.';

export async function runApply(options: ApplyCliOptions, cli: CliProcess): Promise<number> {
  const { file, plans } = await planned(options, cli);
  const changes = changeCount(plans);
  if (conflictCount(plans) > 0) {
    cli.print(textOf(plans, diffText));
    return reported(plans, cli, 0);
  }
  // A change that overwrites one of somebody else is shown with all sides, also in a log.
  const isForced = plans.some(({ steps }) => changesIn(steps).some(({ reason }) => reason !== undefined));
  if (isForced) cli.print(textOf(plans, diffText));
  else if (changes > 0 && !options.quiet) cli.print(textOf(plans, planText));
  const question = `Make ${counted(changes, 'change')}?`;
  if (changes > 0 && !(await confirmed(question, options.yes === true, processTerminal()))) return 1;
  const display = new StepDisplay(process.stderr, systemClock, changes);
  try {
    for (const plan of plans)
      await applyPlan(plan, {
        manager: file.manager,
        onChange: ({ action, item }) => (options.quiet ? undefined : display.step(`${action} ${item}`)),
      });
  } finally {
    display.end();
  }
  if (!options.quiet)
    cli.print(changes === 0 ? 'No changes.\n' : `Made ${counted(changes, 'change')}.\n${appHint(plans)}`);
  return 0;
}

/** The secret of a new app is not printed, because the output of an apply is often a log. */
function appHint(plans: readonly TenantPlan[]): string {
  const created = plans.flatMap(({ steps }) =>
    steps.flatMap(({ action, item }) => (action === 'create' && item.startsWith('app:') ? [item.slice(4)] : [])),
  );
  return created.map((appId) => `Get a secret for the app ${appId} with: tollgate app rotate ${appId}\n`).join('');
}

export async function runExport(options: ApplyCliOptions, { environment, print }: CliProcess): Promise<number> {
  const { session, api } = await connected(environment, options);
  const names = await exportedTenants(api, session.orgId);
  const deps = { api, clock: systemClock };
  const display = new StepDisplay(process.stderr, systemClock, names.length);
  const tenants = [];
  for (const name of names) {
    const target = new ApplyTarget(deps, name);
    tenants.push(await exportTenant(target, api));
    if (names.length > 1 && !options.quiet) display.step(target.title);
  }
  display.end();
  const text = configFileText({ manager: 'tollgate.yaml', tenants });
  if (options.file === '-') print(text);
  else writeFileSync(options.file, text);
  return 0;
}
