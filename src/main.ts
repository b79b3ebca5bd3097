#!/usr/bin/env node
// The entry of the command line. The commands are in cli/, their help in cli/help.ts.
import { help, UsageError, usage } from './cli/help.js';
import { ConfigError, type Environment, processEnvironment, silenceNodeVersionWarning } from './config.js';

type Command = (args: readonly string[], environment: Environment) => Promise<void>;

/** A command is loaded only when it is called, because the worker must not load the GraphQL server. */
const commands: Readonly<Record<string, () => Promise<Command>>> = {
  dev: async () => (await import('./cli/dev.js')).dev,
  gateway: async () => (await import('./cli/gateway.js')).gateway,
  worker: async () => (await import('./cli/worker.js')).worker,
  tables: async () => (await import('./cli/tables.js')).tables,
  console: async () => (await import('./cli/console.js')).consoleLink,
  seed: async () => (await import('./cli/seed.js')).seed,
  keys: async () => (await import('./cli/keys.js')).keys,
};

async function main([name, ...args]: readonly string[]): Promise<void> {
  if (name === undefined || name === '--help' || name === '-h' || name === 'help') {
    process.stdout.write(`${usage}\n`);
    return;
  }
  const load = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (!load) throw new UsageError(`unknown command ${name}\n\n${usage}`);
  if (args.includes('--help') || args.includes('-h')) {
    process.stdout.write(`${help[name]}\n`);
    return;
  }
  // Before the command is loaded, because the AWS SDK checks the version of Node when it is imported.
  silenceNodeVersionWarning();
  const command = await load();
  await command(args, processEnvironment()).catch((error: unknown) => {
    throw isParseError(error)
      ? new UsageError(`${error.message}\nRun \`tollgate ${name} --help\` for the options.`, { cause: error })
      : error;
  });
}

/** An error of `parseArgs`: an unknown option, or one without its value. */
const isParseError = (error: unknown): error is Error =>
  error instanceof Error && String((error as NodeJS.ErrnoException).code).startsWith('ERR_PARSE_ARGS_');

/** The message for a mistake of the user, the stack for a bug. */
function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const isBug = !(error instanceof ConfigError) && (error instanceof TypeError || error instanceof ReferenceError);
  return isBug ? (error.stack ?? error.message) : error.message;
}

main(process.argv.slice(2)).then(
  () => process.exit(),
  (error: unknown) => {
    process.stderr.write(`tollgate: ${describe(error)}\n`);
    process.exit(error instanceof UsageError ? 2 : 1);
  },
);
