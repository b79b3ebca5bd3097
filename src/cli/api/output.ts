import { stringify } from 'yaml';
import { UsageError } from '../help.js';
import type { CliColumn, CliCommand } from './command.js';
import { limitText } from './limit-spec.js';
import { getPath } from './values.js';

export const outputFormats = ['table', 'json', 'jsonl', 'yaml', 'csv', 'name'] as const;
export type OutputFormat = (typeof outputFormats)[number];
export function formatOf(output: string | undefined): OutputFormat {
  const format = outputFormats.find((each) => each === (output ?? 'table'));
  if (!format) throw new UsageError(`-o must be one of ${outputFormats.join(', ')}`);
  return format;
}

export type OutputRow = Readonly<Record<string, unknown>>;

/** The rows of a response, and whether it was one object instead of a list. */
export interface OutputRows {
  readonly rows: readonly OutputRow[];
  readonly isSingle: boolean;
}

// A name may contain control characters, which a terminal would execute.
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it replaces
const controls = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g;
const printable = (text: string): string => text.replace(controls, '\u{fffd}');

/** The text that a command prints, with a line break at its end. Empty if there is nothing to print. */
export function formatted(
  { rows, isSingle }: OutputRows,
  format: OutputFormat,
  command: Pick<CliCommand, 'columns' | 'id'>,
): string {
  const columns = command.columns.map(columnOf);
  switch (format) {
    case 'json':
      return `${JSON.stringify(isSingle ? (rows[0] ?? null) : rows, null, 2)}\n`;
    case 'jsonl':
      return rows.map((row) => `${JSON.stringify(row)}\n`).join('');
    case 'yaml':
      return stringify(isSingle ? (rows[0] ?? null) : rows);
    case 'csv':
      return csv(columns, rows);
    case 'name':
      return rows.map((row) => `${printable(plain(getPath(row, command.id ?? columns[0]?.path ?? 'id')))}\n`).join('');
    case 'table':
      return table(columns, rows);
  }
}

/** One event of a stream, on a line of its own. */
export function formattedEvent(
  row: OutputRow,
  format: OutputFormat,
  command: Pick<CliCommand, 'columns' | 'id'>,
): string {
  if (format === 'name') return formatted({ rows: [row], isSingle: false }, 'name', command);
  if (format !== 'table') return `${JSON.stringify(row)}\n`;
  return `${command.columns.map((column) => cell(row, columnOf(column))).join('  ')}\n`;
}

const columnOf = (column: string | CliColumn): CliColumn => (typeof column === 'string' ? { path: column } : column);
const titleOf = ({ path, title }: CliColumn): string => title ?? path.split('.').at(-1) ?? path;

/** Columns of equal width, two spaces apart. The last column is not padded. */
function table(columns: readonly CliColumn[], rows: readonly OutputRow[]): string {
  if (rows.length === 0) return '';
  const lines = [columns.map(titleOf), ...rows.map((row) => columns.map((column) => cell(row, column)))];
  const widths = columns.map((_, i) => Math.max(...lines.map((line) => line[i]?.length ?? 0)));
  return lines
    .map((line) =>
      line
        .map((text, i) => text.padEnd(widths[i] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .map((line) => `${line}\n`)
    .join('');
}

/** RFC 4180. The amounts are as in the API, not as in a table. */
function csv(columns: readonly CliColumn[], rows: readonly OutputRow[]): string {
  const lines = [
    columns.map(({ path }) => path),
    ...rows.map((row) => columns.map(({ path }) => plain(getPath(row, path)))),
  ];
  return lines.map((line) => `${line.map(csvField).join(',')}\r\n`).join('');
}

/** A spreadsheet would run a text that begins with one of these characters as a formula. */
const formula = /^[=+\-@\t\r\n]/;
const isNumber = /^-?\d+(\.\d+)?$/;

function csvField(text: string): string {
  const safe = formula.test(text) && !isNumber.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

const plain = (value: unknown): string =>
  value === undefined || value === null ? '' : typeof value === 'string' ? value : JSON.stringify(value);

function cell(row: OutputRow, { path, show }: CliColumn): string {
  const value = getPath(row, path);
  if (value === undefined || value === null) return '-';
  return printable(shown(value, show)) || '-';
}

type Listed = Readonly<Record<string, unknown>>;

function shown(value: unknown, show: CliColumn['show']): string {
  const each = (text: (entry: Listed) => string): string =>
    Array.isArray(value) ? value.map((entry) => text(entry as Listed)).join(', ') : plain(value);
  switch (show) {
    case 'usd':
      return usdText(Number(value));
    case 'time':
      return plain(value).replace(/\.\d+Z$/, 'Z');
    case 'list':
      return Array.isArray(value) ? value.map(plain).join(', ') : plain(value);
    case 'limits':
      return each((limit) => limitText(limit as unknown as Parameters<typeof limitText>[0]));
    case 'quotas':
      return each(({ label, dailyUsdMicros, enforcement }) => {
        const hard = enforcement === 'HARD' ? ':hard' : '';
        return `${label}=${usdText(Number(dailyUsdMicros))}${hard}`;
      });
    case 'counters':
      return each(({ limit, consumed }) => `${limit}=${consumed}`);
    case 'details':
      return each(({ name, value: now, previousValue }) =>
        previousValue === null || previousValue === undefined
          ? `${name}=${now}`
          : `${name}: ${previousValue} -> ${now}`,
      );
    case 'prices':
      return each(({ name, usdMicrosPer1M, above }) =>
        above ? `${name}>${above}=${usdText(Number(usdMicrosPer1M))}` : `${name}=${usdText(Number(usdMicrosPer1M))}`,
      );
    default:
      return plain(value);
  }
}

/** Dollars with two decimals, or with as many as are needed up to six. */
export function usdText(micros: number): string {
  const [dollars = '0', fraction = ''] = (Math.abs(micros) / 1e6).toFixed(6).split('.');
  const shortened = fraction.replace(/0{1,4}$/, '');
  return `${micros < 0 ? '-' : ''}$${dollars}.${shortened}`;
}
