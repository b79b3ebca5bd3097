#!/usr/bin/env node
import { help, usage } from './cli/help.js';
import { ConfigError, type Environment, processEnvironment, silenceNodeVersionWarning } from './config.js';

type Command = (args: readonly string[], environment: Environment) => Promise<void>;

/** Each command is loaded when it is called: the worker never loads the GraphQL server. */
const commands: Readonly<Record<string, () => Promise<Command>>> = {
  dev: async () => (await import('./cli/dev.js')).dev,
  gateway: async () => (await import('./cli/gateway.js')).gateway,
  worker: async () => (await import('./cli/worker.js')).worker,
  tables: async () => (await import('./cli/tables.js')).tables,
  seed: async () => (await import('./cli/seed.js')).seed,
  keys: async () => (await import('./cli/keys.js')).keys,
};

async function main([name, ...args]: readonly string[]): Promise<void> {
  const command = name !== undefined && Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (!command || name === undefined) {
    const asked = name === undefined || name === '--help' || name === '-h' || name === 'help';
    (asked ? process.stdout : process.stderr).write(`${asked ? '' : `tollgate: no command ${name}\n\n`}${usage}\n`);
    process.exitCode = asked ? 0 : 2;
    return;
  }
  if (args.includes('--help') || args.includes('-h')) {
    process.stdout.write(`${help[name]}\n`);
    return;
  }
  silenceNodeVersionWarning();
  await (await command())(args, processEnvironment());
}

main(process.argv.slice(2)).then(
  () => process.exit(),
  (error: unknown) => {
    const expected =
      error instanceof ConfigError ||
      (error instanceof Error && !(error instanceof TypeError) && !(error instanceof ReferenceError));
    process.stderr.write(
      `tollgate: ${expected ? (error as Error).message : ((error as Error)?.stack ?? String(error))}\n`,
    );
    process.exit(1);
  },
);
