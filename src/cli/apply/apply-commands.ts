import type { Command } from 'commander';
import type { CliProcess } from '../program.js';

const load = () => import('./run-apply.js');
const fileOption = '-f, --file <file>';
const prune = '--prune';
const force = '--force-conflicts';
const forceText = 'overwrite changes of others, and take over what another file manages';
const pruneText = 'delete what this file has managed and does not contain any more';

/** plan, apply, diff and export. */
export function addApplyCommands(program: Command, cli: CliProcess): void {
  program
    .command('plan')
    .description('Show what apply would change. Exits with 2 if there are changes, with 3 if somebody else made some.')
    .option(fileOption, 'the file, - for the standard input', 'tollgate.yaml')
    .option(prune, pruneText)
    .option(force, forceText)
    .action(async (_, command: Command) => cli.exitWith(await (await load()).runPlan(command.optsWithGlobals(), cli)));
  program
    .command('apply')
    .description(
      'Make the gateway what the file says. Stops if somebody else made a change, unless --force-conflicts is given.',
    )
    .option(fileOption, 'the file, - for the standard input', 'tollgate.yaml')
    .option(prune, pruneText)
    .option(force, forceText)
    .option('--yes', 'do not ask')
    .action(async (_, command: Command) => cli.exitWith(await (await load()).runApply(command.optsWithGlobals(), cli)));
  program
    .command('diff')
    .description('Show every field in which the file and the gateway differ.')
    .option(fileOption, 'the file, - for the standard input', 'tollgate.yaml')
    .option(prune, pruneText)
    .action(async (_, command: Command) => cli.exitWith(await (await load()).runDiff(command.optsWithGlobals(), cli)));
  program
    .command('export')
    .description('Write a file that describes what the gateway has. Applying it changes nothing.')
    .option(fileOption, 'the file to write, - for the standard output', '-')
    .action(async (_, command: Command) =>
      cli.exitWith(await (await load()).runExport(command.optsWithGlobals(), cli)),
    );
}
