import { readFileSync, writeFileSync } from 'node:fs';

const digits = (number) =>
  number === undefined || Number.isNaN(number) ? '' : number.toFixed(number < 10 ? 2 : number < 100 ? 1 : 0);

const columns = [
  ['operation', ({ operation }) => operation],
  ['by', ({ by }) => by],
  ['in flight', ({ inFlight }) => String(inFlight)],
  ['per second', ({ perSecond }) => digits(perSecond)],
  ['p50 ms', ({ p50Ms }) => digits(p50Ms)],
  ['p99 ms', ({ p99Ms }) => digits(p99Ms)],
  ['CPU ms', ({ cpuMs }) => digits(cpuMs)],
  ['engine CPU ms', ({ engineCpuMs }) => digits(engineCpuMs)],
  ['store calls', ({ storeCalls }) => digits(storeCalls)],
  ['read units', ({ readUnits }) => digits(readUnits)],
  ['write units', ({ writeUnits }) => digits(writeUnits)],
  ['compared', ({ against }) => (against ?? []).map(comparison).join('; ')],
];
const comparison = ({ text, bar, isAtLeast, isMet }) =>
  `${text}${bar === undefined ? '' : ` (bar ${isAtLeast ? '≥' : '≤'} ${bar}: ${isMet ? 'met' : 'MISSED'})`}`;

/** The bars of the rows, one line each. */
export const barsOf = (rows) =>
  rows.flatMap(({ operation, against = [] }) =>
    against
      .filter(({ bar }) => bar !== undefined)
      .map(({ text, bar, isAtLeast, isMet }) => [
        operation,
        text,
        `${isAtLeast ? '≥' : '≤'} ${bar}`,
        isMet ? 'met' : 'MISSED',
      ]),
  );

const isText = new Set(['operation', 'by', 'compared']);

/** The rows as a table. The name of an operation is not repeated. */
export function tableOf(rows) {
  const isSame = (row, other) => row.operation === other?.operation && row.by === other?.by;
  const cells = rows.map((row, i) =>
    columns.map(([title, show]) => (title === 'operation' && isSame(row, rows[i - 1]) ? '' : show(row))),
  );
  return table(
    columns.map(([title]) => title),
    cells,
    columns.map(([title]) => isText.has(title)),
  );
}

/** A Markdown table with aligned columns. By default the first column is text and the others are numbers. */
export function table(head, rows, isLeft = head.map((_, i) => i === 0)) {
  const widths = head.map((title, column) => Math.max(title.length, ...rows.map((row) => row[column].length)));
  const line = (cells) =>
    `| ${cells.map((cell, i) => (isLeft[i] ? cell.padEnd(widths[i]) : cell.padStart(widths[i]))).join(' | ')} |`;
  const dashes = widths.map((width, i) => (isLeft[i] ? `:${'-'.repeat(width + 1)}` : `${'-'.repeat(width + 1)}:`));
  const rule = `|${dashes.join('|')}|`;
  return [line(head), rule, ...rows.map(line)].join('\n');
}

/** Replaces the text between the markers `name` in the page. Returns true if that changes the page. */
export function writeBetween(file, name, text, { isDry = false } = {}) {
  const page = readFileSync(file, 'utf8');
  const [begin, end] = [`<!-- ${name}:begin -->`, `<!-- ${name}:end -->`];
  const [from, to] = [page.indexOf(begin), page.indexOf(end)];
  if (from < 0 || to < from) throw new Error(`${file} has no markers for ${name}`);
  const fresh = `${page.slice(0, from)}${begin}\n\n${text}\n\n${page.slice(to)}`;
  if (!isDry) writeFileSync(file, fresh);
  return fresh !== page;
}
