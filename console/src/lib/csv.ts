const quoted = (value: string | number): string => {
  const text = String(value);
  // A spreadsheet runs a cell that begins with one of these as a formula.
  const safe = typeof value === 'string' && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
};

/** Rows as CSV (RFC 4180), with a head. */
export const csv = (head: readonly string[], rows: readonly (readonly (string | number)[])[]): string =>
  [head, ...rows].map((row) => `${row.map(quoted).join(',')}\r\n`).join('');
