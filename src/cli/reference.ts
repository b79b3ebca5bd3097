import type { Command } from 'commander';
import { buildProgram, serverCommands } from './program.js';

/** Every command with its arguments and options, as Markdown, from the declarations. */
export function commandReference(): string {
  const program = buildProgram({ environment: {}, print: () => {}, exitWith: () => {} });
  return program.commands
    .filter((command) => !serverCommands.includes(command.name()))
    .map((command) => (command.commands.length > 0 ? groupText(command) : commandText(command, '')))
    .join('\n');
}

function groupText(group: Command): string {
  const commands = group.commands.map((command) => commandText(command, `${group.name()} `));
  return `**${group.name()}**: ${group.description()}\n\n${commands.join('')}`;
}

function commandText(command: Command, prefix: string): string {
  const names = command.registeredArguments.map((argument) => {
    const name = argument.name();
    return argument.required ? ` <${name}>` : ` [${name}]`;
  });
  const options = command.options.map(({ flags, mandatory }) => (mandatory ? ` ${flags}` : ` [${flags}]`));
  return `- \`${prefix}${command.name()}${names.join('')}${options.join('')}\`: ${command.description()}\n`;
}
