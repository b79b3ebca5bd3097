#!/usr/bin/env node
// The entry of the command line. The commands are in cli/program.ts.
import { type Command, CommanderError } from 'commander';
import { UsageError } from './cli/help.js';
import { buildProgram, serverCommands } from './cli/program.js';
import { ConfigError, processEnvironment } from './config.js';

const usageCode = 2;

async function main(args: readonly string[]): Promise<number> {
  let exitCode = 0;
  const program = buildProgram({
    environment: processEnvironment(),
    print: (text) => process.stdout.write(text),
    exitWith: (code) => {
      exitCode = code;
    },
  });
  if (args.length === 0) {
    program.outputHelp();
    return 0;
  }
  await program.parseAsync([...args], { from: 'user' });
  return exitCode || Number(process.exitCode ?? 0);
}

/** Prints what is wrong and what to do. Returns the exit code. */
async function failed(error: unknown, args: readonly string[]): Promise<number> {
  // `--help` ends the parsing like an error.
  if (error instanceof CommanderError && (error.exitCode === 0 || error.code === 'commander.help'))
    return error.exitCode;
  const isUsage = error instanceof CommanderError || error instanceof UsageError;
  process.stderr.write(`tollgate: ${describe(error)}\n${isUsage ? hint(args) : ''}`);
  // For commands of the API, 2 means that `plan` has found changes.
  const isServer = !isApiCommand(args);
  if (isUsage) return isServer ? usageCode : 1;
  if (isServer) return 1;
  const { exitCodeOf } = await import('./cli/api/run.js');
  return exitCodeOf(error);
}

/** The command that the words name, as far as they name one. */
function namedCommand(args: readonly string[]): Command {
  let command: Command = buildProgram({ environment: {}, print: () => {}, exitWith: () => {} });
  for (const word of args.slice(0, 2)) command = command.commands.find((each) => each.name() === word) ?? command;
  return command;
}

/** True unless the command runs or sets up a server, or is unknown. */
function isApiCommand(args: readonly string[]): boolean {
  const [first = ''] = args;
  const isKnown = namedCommand([first]).parent !== null;
  return first.startsWith('-') || (isKnown && !serverCommands.includes(first));
}

function hint(args: readonly string[]): string {
  const command = namedCommand(args);
  const parents = [command.parent?.parent?.name(), command.parent?.name(), command.name()];
  return `Run \`${parents.filter((name) => name !== undefined).join(' ')} --help\` for the options.\n`;
}

/** The message for a mistake of the user, the stack for a bug. */
function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error instanceof CommanderError) return error.message.replace(/^error: /, '');
  const isBug = !(error instanceof ConfigError) && (error instanceof TypeError || error instanceof ReferenceError);
  return isBug ? (error.stack ?? error.message) : error.message;
}

// A reader such as `head` may close the pipe before everything is written.
process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1));
const args = process.argv.slice(2);
main(args)
  .catch((error: unknown) => failed(error, args))
  // The output may be a pipe, whose rest would be lost if the process ended at once.
  .then((code) => process.stdout.write('', () => process.exit(code)));
