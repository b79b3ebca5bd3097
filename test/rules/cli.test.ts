import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildSchema, Kind, parse, TypeInfo, validate, visit, visitWithTypeInfo } from 'graphql';
import type { CliColumn } from '../../src/cli/api/command.js';
import { apiCommands, withoutCommand } from '../../src/cli/commands/all.js';
import { completionScript, completionShells } from '../../src/cli/completion.js';
import { buildProgram, completionNodes } from '../../src/cli/program.js';
import { commandReference } from '../../src/cli/reference.js';
import { boundIssues } from '../../src/graphql/bounds.js';

const schema = buildSchema(readFileSync('schema.graphql', 'utf8'));
const documents = apiCommands.flatMap(({ name, document, variant }) => [
  { name, document },
  ...(variant ? [{ name, document: variant.document }] : []),
]);
const program = () => buildProgram({ environment: {}, print: () => {}, exitWith: () => {} });

/** Every field that a document selects, as `Type.field`. */
function fieldsOf(document: string): Set<string> {
  const fields = new Set<string>();
  const types = new TypeInfo(schema);
  visit(
    parse(document),
    visitWithTypeInfo(types, {
      Field: (node) => {
        fields.add(`${types.getParentType()?.name}.${node.name.value}`);
      },
    }),
  );
  return fields;
}

describe('the commands of the API', () => {
  const selected = new Set(documents.flatMap(({ document }) => [...fieldsOf(document)]));

  it.each(['Query', 'Mutation', 'Subscription', 'Org'])('reach every field of %s, or say why not', (type) => {
    const fields = Object.keys((schema.getType(type) as { getFields(): object }).getFields());
    const missing = fields
      .map((field) => `${type}.${field}`)
      // The global id, which only `node` takes.
      .filter((field) => field !== 'Org.id' && !selected.has(field) && !(field in withoutCommand));
    expect(missing).toEqual([]);
  });

  it('give no reason for a field that has a command', () => {
    expect(Object.keys(withoutCommand).filter((field) => selected.has(field))).toEqual([]);
  });

  it('send documents that the schema allows and the bounds permit', () => {
    const faults = documents.flatMap(({ name, document }) =>
      [...validate(schema, parse(document)).map(({ message }) => message), ...boundIssues(parse(document))].map(
        (fault) => `${name}: ${fault}`,
      ),
    );
    expect(faults).toEqual([]);
  });

  it('set only variables that their documents declare', () => {
    const faults = apiCommands.flatMap(({ name, document, variant, params = [], org }) => {
      const declared = [document, ...(variant ? [variant.document] : [])].flatMap((text) =>
        parse(text).definitions.flatMap((definition) =>
          definition.kind === Kind.OPERATION_DEFINITION
            ? (definition.variableDefinitions ?? []).map(({ variable }) => variable.name.value)
            : [],
        ),
      );
      return [...params.flatMap(({ to }) => to ?? []), ...(org ? [org] : [])]
        .filter((path) => !declared.includes(path.split('.')[0] ?? ''))
        .map((path) => `${name}: ${path}`);
    });
    expect(faults).toEqual([]);
  });

  it('show only fields that their documents select', () => {
    const given = ['clientSecret', 'clientId'];
    const faults = apiCommands.flatMap(({ name, document, columns, id }) => {
      const names = new Set([...fieldsOf(document)].map((field) => field.split('.')[1]));
      const paths = columns.map((column) => (typeof column === 'string' ? column : (column as CliColumn).path));
      return [...paths, ...(id ? [id] : [])]
        .flatMap((path) => path.split('.'))
        .filter((part) => !names.has(part) && !given.includes(part))
        .map((part) => `${name}: ${part}`);
    });
    expect(faults).toEqual([]);
  });

  it('take no secret as an argument or option', () => {
    const words = completionNodes(program()).flatMap(({ options }) => options);
    const params = apiCommands.flatMap(({ params = [] }) => params.map(({ flags }) => flags));
    expect([...words, ...params].filter((word) => /secret|password|admin-key|token\b/i.test(word))).toEqual([]);
  });

  it('have names of their own', () => {
    const names = apiCommands.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    expect(() => program()).not.toThrow();
  });
});

describe('the completion', () => {
  const nodes = completionNodes(program());

  it.each(completionShells)('of %s has every command and option', (shell) => {
    const script = completionScript(shell, nodes);
    for (const { commands, options } of nodes) {
      for (const { name } of commands) expect(script).toMatch(new RegExp(`[ ']${name}\\b`));
      for (const option of options) expect(script).toContain(option.replace(/^--/, ''));
    }
    // Nothing that a shell would execute while it loads the script.
    expect(script).not.toContain('`');
  });

  it('completes groups, commands and options in bash', () => {
    const complete = (...words: string[]): string[] => {
      const setUp = `COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length - 1}`;
      const script = `${completionScript('bash', nodes)}\n${setUp}; _tollgate; printf '%s\\n' "\${COMPREPLY[@]}"`;
      return execFileSync('bash', ['--norc', '-euo', 'pipefail', '-c', script], { encoding: 'utf8' })
        .trim()
        .split('\n');
    };
    expect(complete('tollgate', 'bud')).toEqual(['budget']);
    expect(complete('tollgate', 'budget', '')).toEqual(
      expect.arrayContaining(['list', 'get', 'set', 'delete', '--org', '--output']),
    );
    expect(complete('tollgate', 'budget', 'set', '--per')).toEqual(['--period']);
  });

  // The text above is checked for all shells. A shell that is installed also has to accept it.
  const parsers = { bash: ['-n'], zsh: ['-n'], fish: ['--no-execute'] };
  const installed = completionShells.filter((shell) => spawnSync(shell, ['--version']).status === 0);
  it.each(installed)('of %s has no syntax error', (shell) => {
    const folder = mkdtempSync(join(tmpdir(), 'tollgate-'));
    const file = join(folder, 'completion');
    writeFileSync(file, completionScript(shell, nodes));
    const { status, stderr } = spawnSync(shell, [...parsers[shell], file], { encoding: 'utf8' });
    rmSync(folder, { recursive: true });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  });
});

it('docs/guides/cli.md has all commands (node scripts/cli-reference.mjs)', () => {
  const [, reference = ''] = readFileSync('docs/guides/cli.md', 'utf8').split('## All commands\n\n');
  expect(reference).toBe(commandReference());
});
