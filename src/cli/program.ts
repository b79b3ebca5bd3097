// The command line. Server commands are in this folder, one file each. Commands of the API are declared in commands/
// and run by api/run.ts. plan, apply, diff and export are in apply/.
import { Command, CommanderError, Option } from 'commander';
import { type Environment, silenceNodeVersionWarning } from '../config.js';
import { addAccountCommands } from './account-commands.js';
import type { CliCommand, CliParam } from './api/command.js';
import { outputFormats } from './api/output.js';
import type { RunOptions } from './api/run.js';
import { isRepeated } from './api/values.js';
import { addApplyCommands } from './apply/apply-commands.js';
import { apiCommands, groupTexts } from './commands/all.js';
import { type CompletionNode, type CompletionShell, completionScript, completionShells } from './completion.js';
import { help } from './help.js';

/** What a command needs of the process. */
export interface CliProcess {
  readonly environment: Environment;
  readonly print: (text: string) => void;
  /** Sets the exit code of a command that did not fail. */
  readonly exitWith: (code: number) => void;
}

export const serverCommands = ['dev', 'gateway', 'worker', 'tables', 'console', 'seed', 'keys'];

/** All commands. A command is loaded only when it is called, because the worker must not load the GraphQL server. */
export function buildProgram(cli: CliProcess): Command {
  const program = new Command('tollgate')
    .description('Meters LLM spend, enforces rate limits, ingests device readings.')
    .addOption(new Option('-o, --output <format>', 'how to print results').choices(outputFormats).default('table'))
    .option('--org <orgId>', 'the org, for the platform admin')
    .option('--context <name>', 'the gateway and credentials to use (see: tollgate context list)')
    .option('--quiet', 'print only results')
    .exitOverride()
    // `main.ts` prints errors.
    .configureOutput({ outputError: () => {}, writeOut: cli.print });
  program.commandsGroup('Server:');
  addServerCommands(program, cli);
  program.commandsGroup('Sign in:');
  addAccountCommands(program, cli);
  program.commandsGroup('Configuration as a file:');
  addApplyCommands(program, cli);
  program.commandsGroup('API:');
  for (const command of apiCommands) addApiCommand(program, command, cli);
  addExportCommand(program, cli);
  program.commandsGroup('Shell:');
  program
    .command('completion')
    .description('Print a script that completes commands in your shell.')
    .argument('<shell>', completionShells.join(', '))
    .action((shell: string) => cli.print(completionScript(checkedShell(shell), completionNodes(program))));
  return program;
}

function addServerCommands(program: Command, { environment, print }: CliProcess): void {
  const add = (name: string, text: string): Command => {
    const command = program.command(name).description(text);
    command.helpInformation = () => `${help[name]}\n`;
    // The AWS SDK checks the version of Node when it is imported.
    return command.hook('preAction', silenceNodeVersionWarning);
  };
  add('dev', 'Run everything on this machine (`npm start`).').action(async () =>
    (await import('./dev.js')).dev(environment),
  );
  add('gateway', 'Serve the API: GraphQL over HTTP, subscriptions over WebSocket and SSE.')
    .option('--processes <n>', 'processes that share the port', '1')
    .action(async (options) => (await import('./gateway.js')).gateway(options, environment));
  add('worker', 'Run the background work: totals, prices, alerts and cleanup.').action(async () =>
    (await import('./worker.js')).worker(environment),
  );
  add('tables', 'Create, check or migrate the DynamoDB tables, or print a CloudFormation template.')
    .argument('[action]', 'create, check or migrate')
    .option('--template', 'print a CloudFormation template')
    .action(async (action, options) => (await import('./tables.js')).tables({ action, ...options }, environment));
  add('console', 'Print a one-time link into the web console of a running gateway.')
    .option('--read-only', 'the session may not change anything')
    .option('--url <url>', 'the gateway')
    .action(async (_, command: Command) =>
      (await import('./console.js')).consoleLink(command.optsWithGlobals(), environment),
    );
  add('seed', 'Create a demo org with 30 days of traffic.')
    .option('--days <n>', 'full days before today', '30')
    .action(async (options) => (await import('./seed.js')).seed(options, environment));
  add('keys', 'Generate signing keys for TOLLGATE_SIGNING_KEYS.').action(async () =>
    print(await (await import('./keys.js')).keys()),
  );
}

/** The command of the group, for example `org`. It is created with its first command. */
function groupOf(program: Command, name: string): Command {
  const found = program.commands.find((command) => command.name() === name);
  return found ?? program.command(name).description(groupTexts[name] ?? '');
}

export function addApiCommand(program: Command, declared: CliCommand, cli: CliProcess): void {
  const [group = '', action] = declared.name.split(' ');
  const command = (action === undefined ? program : groupOf(program, group)).command(action ?? group);
  command.description(declared.text);
  for (const param of declared.params ?? []) addParam(command, param);
  if (declared.connection !== undefined)
    command.option('--max <n>', 'the number of rows', '50').option('--all', 'all rows');
  if (declared.confirm !== undefined) command.option('--yes', 'do not ask');
  command.action(async (...all: unknown[]) => {
    const [{ runCommand }, { connected }, { processTerminal }] = await Promise.all([
      import('./api/run.js'),
      import('./account.js'),
      import('./api/prompt.js'),
    ]);
    const options: RunOptions = command.optsWithGlobals();
    const named = Object.fromEntries(command.registeredArguments.map((argument, i) => [argument.name(), all[i]]));
    const { session, api } = await connected(cli.environment, options);
    const given = { ...command.opts(), ...named } as Parameters<typeof runCommand>[0]['given'];
    const call = { command: declared, given, options, session, api, terminal: processTerminal(), print: cli.print };
    cli.exitWith(await runCommand(call));
  });
}

function addParam(command: Command, { flags, text, required, as, choices }: CliParam): void {
  if (!flags.startsWith('-')) {
    command.argument(flags, text);
    return;
  }
  const option = new Option(flags, choices ? `${text} (${choices.join(', ')})` : text);
  if (required) option.makeOptionMandatory();
  // Without this, `...` would take every further word, and a list of one would need `--` after it.
  if (isRepeated(as)) option.argParser((value: string, before: string[] | undefined) => [...(before ?? []), value]);
  if (isRepeated(as)) option.variadic = false;
  command.addOption(option);
}

function addExportCommand(program: Command, cli: CliProcess): void {
  groupOf(program, 'spend')
    .command('export')
    .description('Write the spend of an org to the standard output, as CSV or JSON lines.')
    .requiredOption('--from <day>', 'the first day, YYYY-MM-DD')
    .requiredOption('--to <day>', 'the last day, YYYY-MM-DD')
    .option('--by <label|app|hour|cost>', 'what a row is', 'label')
    .option('--format <csv|jsonl>', 'the format', 'csv')
    .action(async (_, command: Command) => {
      const { exportSpend } = await import('./api/export-spend.js');
      await exportSpend(command.optsWithGlobals(), cli.environment);
    });
}

function checkedShell(shell: string): CompletionShell {
  const known = completionShells.find((each) => each === shell);
  if (!known) throw new CommanderError(1, 'tollgate.shell', `error: the shell must be ${completionShells.join(', ')}`);
  return known;
}

/** Every command with what may follow it. */
export function completionNodes(program: Command): CompletionNode[] {
  const optionsOf = (command: Command) => command.options.flatMap(({ long }) => (long ? [long] : []));
  const globals = optionsOf(program);
  const visit = (command: Command, path: readonly string[]): CompletionNode[] => [
    {
      path: path.join(' '),
      commands: command.commands.map((child) => ({ name: child.name(), text: child.description() })),
      options: [...new Set([...(path.length > 0 ? optionsOf(command) : []), ...globals, '--help'])],
    },
    ...command.commands.flatMap((child) => visit(child, [...path, child.name()])),
  ];
  return visit(program, []);
}
