// Renders docs/configuration.md from the zod schemas of the configuration, for scripts/configuration.mjs and its test.

const wrappers = { optional: 'innerType', default: 'innerType', nonoptional: 'innerType', pipe: 'in' };

/** A schema and the schemas that it wraps, outermost first. */
function layersOf(schema) {
  const inner = schema.def[wrappers[schema.def.type]];
  return inner ? [schema, ...layersOf(inner)] : [schema];
}

/** The first value of this metadata key among the layers. */
const metaOf = (schema, key) =>
  layersOf(schema)
    .map((layer) => layer.meta()?.[key])
    .find((value) => value !== undefined);

const code = (value) => `\`${value}\``;

function defaultOf(schema) {
  const layer = layersOf(schema).find(({ def }) => def.type === 'default');
  if (!layer) return undefined;
  const value = layer.def.defaultValue;
  return typeof value === 'boolean' ? code(value ? 'on' : 'off') : code(value);
}

const number = (value) => value.toLocaleString('en-US');

function valuesOf(schema) {
  const declared = metaOf(schema, 'values');
  if (declared) return declared;
  const base = layersOf(schema).at(-1);
  if (base.def.type === 'enum') return Object.values(base.def.entries).map(code).join(', ');
  if (base.def.type !== 'number') return 'text';
  const { minValue: min, maxValue: max } = base;
  return max === null || max >= Number.MAX_SAFE_INTEGER ? `${number(min)} or more` : `${number(min)} to ${number(max)}`;
}

/** One row per variable. */
export function variablesOf(shape) {
  return Object.entries(shape).map(([name, schema]) => {
    const standard = metaOf(schema, 'unset') ?? defaultOf(schema);
    const inDev = metaOf(schema, 'inDev');
    return {
      name,
      description: metaOf(schema, 'description'),
      values: valuesOf(schema),
      standard: inDev ? `${standard}; in \`tollgate dev\`: ${inDev}` : standard,
    };
  });
}

/** One entry per key of the file, sections included, in the order of the schema. */
export function fileKeysOf(schema, path = []) {
  const base = layersOf(schema).at(-1);
  const description = metaOf(schema, 'description');
  const own = path.length > 0 ? [{ path, description, schema, isSection: false }] : [];
  const section = own.map((entry) => ({ ...entry, isSection: true }));
  if (base.def.type === 'object')
    return [...section, ...Object.entries(base.shape).flatMap(([key, inner]) => fileKeysOf(inner, [...path, key]))];
  // The values of a record have no description of their own: their keys are chosen by the operator.
  if (base.def.type === 'record') return [...section, ...fileKeysOf(base.def.valueType, [...path, '<label>']).slice(1)];
  return own;
}

const row = (cells) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
const table = (head, rows) => [row(head), row(head.map(() => '---')), ...rows.map(row)].join('\n');

const variableTable = (shape) =>
  table(
    ['Variable', 'Default', 'Values', 'Description'],
    variablesOf(shape).map(({ name, standard, values, description }) => [code(name), standard, values, description]),
  );

const isOptional = (schema) => layersOf(schema).some(({ def }) => def.type === 'optional');
const valueAt = (file, path) => path.reduce((value, key) => value?.[key], file);

function shippedText(file, { path, schema }) {
  if (path.includes('<label>')) return isOptional(schema) ? 'optional' : 'required';
  const value = valueAt(file, path);
  return value === undefined ? 'not set' : code(value);
}

function fileSections(schema, shipped) {
  const keys = fileKeysOf(schema);
  return keys
    .filter(({ path, isSection }) => isSection && path.length === 1)
    .map(({ path: [name], description }) => {
      const rows = keys
        .filter(({ path, isSection }) => !isSection && path[0] === name)
        .map((key) => [code(key.path.join('.')), shippedText(shipped, key), valuesOf(key.schema), key.description]);
      return `### ${code(name)}\n\n${description}\n\n${table(['Key', 'Shipped value', 'Values', 'Description'], rows)}`;
    });
}

/**
 * The whole page. `groups`: title to shape of variables. `fileSchema`: schema of config.yaml. `shipped`: its parsed
 * content.
 */
export function configurationPage({ groups, fileSchema, shipped }) {
  return `${[
    '<!-- Generated from src/config-env-schema.ts and src/config-file-schema.ts by scripts/configuration.mjs. ' +
      'Do not edit. -->',
    '# Configuration',
    'Tollgate is configured by environment variables and one YAML file. A process checks both at its start, reports ' +
      'every fault in one message and exits with status 1. An empty variable counts as not set. A change needs a ' +
      'restart.',
    '`tollgate gateway`, `tollgate worker` and `tollgate dev` read everything on this page. `tollgate tables` reads ' +
      'only the DynamoDB variables. All processes of a deployment must have the same secrets and the same file.',
    '## Environment variables',
    ...Object.entries(groups).flatMap(([title, shape]) => [`### ${title}`, variableTable(shape)]),
    '## Configuration file',
    'The file contains the decisions of the platform team that are the same for all orgs. Tollgate reads ' +
      '`config.yaml` next to the program, or the file that `TOLLGATE_CONFIG` names. Unknown keys are faults. Keys ' +
      'without a default must be present; the shipped file has all of them.',
    ...fileSections(fileSchema, shipped),
  ].join('\n\n')}\n`;
}
