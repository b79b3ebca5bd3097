export const difference = (after, before) => Object.fromEntries(Object.keys(after).map((name) => [name, after[name] - before[name]]));

/**
 * A line a phase. Each of the ratios adds a column: the rate compared with that of another result, which `of` names, and
 * whether the bar for the phase is met. What is done by hand consumes no write units of the gateway.
 */
export function printTable(results, ratios) {
  const total = (runs, pick) => runs.reduce((sum, run) => sum + pick(run), 0);
  const rows = results.map((result) => {
    const { name, runs, count, perSecond, p50, p99, isByHand } = result;
    const cpu = ['gateway', 'engine', 'load'].map((who) => total(runs, (run) => run.cpu[who]));
    return [
      name,
      String(count),
      perSecond.toFixed(0),
      runs.map((run) => (run.latencies.length / run.seconds).toFixed(0)).join(' '),
      p50.toFixed(1),
      p99.toFixed(1),
      ...cpu.map((seconds) => `${seconds.toFixed(1)} (${((seconds * 1000) / count).toFixed(2)})`),
      isByHand ? '' : (total(runs, (run) => run.units) / count).toFixed(2),
      ...ratios.flatMap(({ of, bars }) => {
        const other = of(result);
        const ratio = other ? perSecond / other.perSecond : undefined;
        const bar = bars[name];
        return [ratio?.toFixed(2) ?? '', ratio === undefined || bar === undefined ? '' : `>= ${bar}: ${ratio >= bar ? 'met' : 'MISSED'}`];
      }),
    ];
  });
  const head = [
    'phase',
    'requests',
    'req/s',
    'by round',
    'p50 ms',
    'p99 ms',
    'gateway CPU s (ms/req)',
    'engine CPU s',
    'load CPU s',
    'write units',
    ...ratios.flatMap(({ title }) => [title, 'bar']),
  ];
  const widths = head.map((title, column) => Math.max(title.length, ...rows.map((row) => row[column].length)));
  for (const row of [head, ...rows])
    console.log(row.map((cell, column) => (column === 0 ? cell.padEnd(widths[column]) : cell.padStart(widths[column]))).join('  '));
}
