import { badInput, type Issue } from '../../lib/errors.js';
import { uuidPattern } from '../../lib/patterns.js';
import { isDate } from '../../orgs/calendar.js';
import { rangeIssues } from '../day-range.js';

export const exportFormats = ['csv', 'jsonl'] as const;
export type ExportFormat = (typeof exportFormats)[number];

export const exportGroupings = ['label', 'app', 'hour', 'cost'] as const;
export type ExportGrouping = (typeof exportGroupings)[number];

export const maxExportDays: Readonly<Record<ExportGrouping, number>> = { label: 366, app: 366, hour: 31, cost: 31 };

/** The body of an export request. */
export interface ExportRequest {
  readonly format: ExportFormat;
  readonly by: ExportGrouping;
  readonly from: string;
  readonly to: string;
  readonly orgId?: string;
}

const fieldNames = ['format', 'by', 'from', 'to', 'orgId'];

/** The request in a JSON object. Throws BAD_USER_INPUT that names every invalid field. */
export function exportRequest(body: Readonly<Record<string, unknown>>): ExportRequest {
  const { format, by, from, to, orgId } = body;
  const isNamed = orgId !== undefined && orgId !== null;
  const issues = [
    ...oneOfIssues('format', format, exportFormats),
    ...oneOfIssues('by', by, exportGroupings),
    ...dateIssues('from', from),
    ...dateIssues('to', to),
    ...(isNamed && !(typeof orgId === 'string' && uuidPattern.test(orgId.toLowerCase()))
      ? [{ path: 'orgId', message: 'must be a UUID' }]
      : []),
    ...(Object.keys(body).every((name) => fieldNames.includes(name))
      ? []
      : [{ path: 'body', message: `has an unknown field; the fields are ${fieldNames.join(', ')}` }]),
  ];
  if (issues.length > 0) throw badInput(...issues);
  const request = { format, by, from, to } as ExportRequest;
  const outside = rangeIssues(request, maxExportDays[request.by]);
  if (outside.length > 0) throw badInput(...outside);
  return isNamed ? { ...request, orgId: String(orgId).toLowerCase() } : request;
}

const oneOfIssues = (path: string, value: unknown, allowed: readonly string[]): Issue[] =>
  allowed.some((each) => each === value) ? [] : [{ path, message: `must be one of ${allowed.join(', ')}` }];

const dateIssues = (path: string, value: unknown): Issue[] =>
  typeof value === 'string' && isDate(value) ? [] : [{ path, message: 'must be a day, YYYY-MM-DD' }];

type Cell = string | number | boolean | null | Readonly<Record<string, string>>;
/** One row, by column. */
export type ExportRow = Readonly<Record<string, Cell>>;

const figures = [
  'costUsdMicros',
  'inputTokens',
  'outputTokens',
  'requests',
  'corrections',
  'debitUsdMicros',
  'creditUsdMicros',
];

/** The columns of each export, in their order. `costUsdMicros` contains the corrections, so it sums to the totals. */
export const exportColumns: Readonly<Record<ExportGrouping, readonly string[]>> = {
  label: ['day', 'label', ...figures],
  app: ['day', 'appId', 'label', ...figures],
  hour: ['startsAt', 'day', 'label', 'costUsdMicros', 'requests'],
  cost: [
    'requestId',
    'appId',
    'label',
    'day',
    'occurredAt',
    'receivedAt',
    'costUsdMicros',
    'recordedUsdMicros',
    'corrections',
    'inputTokens',
    'outputTokens',
    'status',
    'estimated',
    'priceSource',
    'dimensions',
  ],
};

/** The text of an export: its beginning, each row, and its end. */
export interface ExportWriter {
  readonly contentType: string;
  readonly head: string;
  row(row: ExportRow): string;
  tail(rows: number): string;
}

export function exportWriter({ format, by }: Pick<ExportRequest, 'format' | 'by'>): ExportWriter {
  const columns = exportColumns[by];
  const ordered = (row: ExportRow) => columns.map((column) => row[column] ?? null);
  if (format === 'csv')
    return {
      contentType: 'text/csv; charset=utf-8; header=present',
      head: csvLine(columns),
      row: (row) => csvLine(ordered(row)),
      tail: () => '',
    };
  return {
    contentType: 'application/x-ndjson; charset=utf-8',
    head: '',
    row: (row) => `${JSON.stringify(Object.fromEntries(columns.map((column) => [column, row[column] ?? null])))}\n`,
    // Shows a reader that nothing is missing, also behind a proxy that hides an interrupted response.
    tail: (rows) => `${JSON.stringify({ end: true, rows })}\n`,
  };
}

/** A record of RFC 4180. */
const csvLine = (cells: readonly Cell[]): string => `${cells.map(csvCell).join(',')}\r\n`;

/** A spreadsheet would run a text that begins with one of these as a formula. */
const formula = /^[=+\-@\t\r\n＝＋－＠]/;

function csvCell(cell: Cell): string {
  if (cell === null) return '';
  if (typeof cell === 'number') return String(cell);
  const text = typeof cell === 'string' ? cell : JSON.stringify(cell);
  // As OWASP recommends: the apostrophe makes it text.
  const safe = formula.test(text) ? `'${text}` : text;
  return /[",\r\n]|^\s|\s$/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** Large enough that the cost of a write does not matter, and small enough to stay in memory. */
const chunkChars = 64 * 1024;

/** The rows as text, in chunks. At most one chunk is in memory. */
export async function* exportChunks(rows: AsyncIterable<ExportRow>, writer: ExportWriter): AsyncGenerator<string> {
  let text = writer.head;
  let count = 0;
  for await (const row of rows) {
    text += writer.row(row);
    count++;
    if (text.length < chunkChars) continue;
    yield text;
    text = '';
  }
  yield text + writer.tail(count);
}
