import type { Command } from 'commander';
import { formatOf, formatted } from './api/output.js';
import type { CliProcess } from './program.js';

const load = () => import('./account.js');

/** login, logout and the contexts. */
export function addAccountCommands(program: Command, { environment, print }: CliProcess): void {
  const say: Say = ({ quiet }, text) => {
    if (!quiet) print(text);
  };
  program
    .command('login')
    .description('Check credentials and store them in a context. The secret is typed, or read from standard input.')
    .option('--url <url>', 'the gateway')
    .option('--client-id <id>', 'the client')
    .option('--admin', 'sign in with an admin key')
    .action(async (_, command: Command) => {
      const options = command.optsWithGlobals();
      say(options, await (await load()).login(options, environment));
    });
  program
    .command('logout')
    .description('Revoke the access token and forget the credentials of the context.')
    .action(async (_, command: Command) => {
      const options = command.optsWithGlobals();
      say(options, await (await load()).logout(options, environment));
    });
  addContextCommands(program, { environment, print }, say);
}

type Say = (options: { readonly quiet?: boolean }, text: string) => void;

function addContextCommands(
  program: Command,
  { environment, print }: Pick<CliProcess, 'environment' | 'print'>,
  say: Say,
): void {
  const context = program.command('context').description('Gateways and the credentials for them.');
  context
    .command('list')
    .description('List the contexts. Never prints a secret.')
    .action(async (_, command: Command) => {
      const rows = (await load()).contextRows(environment);
      const columns = [{ path: 'current', title: ' ' }, 'name', 'url', 'org', 'credentials'];
      const format = formatOf(command.optsWithGlobals().output);
      print(formatted({ rows, isSingle: false }, format, { columns, id: 'name' }));
    });
  context
    .command('use')
    .description('Make a context the current one.')
    .argument('<name>', 'the context')
    .action(async (name: string, _, command: Command) =>
      say(command.optsWithGlobals(), (await load()).useContext(name, environment)),
    );
  context
    .command('add')
    .description('Add a context without credentials, or change its URL and org.')
    .argument('<name>', 'the context')
    .requiredOption('--url <url>', 'the gateway')
    .action(async (name: string, _, command: Command) => {
      const options = command.optsWithGlobals<{ url: string; org?: string; quiet?: boolean }>();
      say(options, (await load()).addContext(name, options, environment));
    });
}
