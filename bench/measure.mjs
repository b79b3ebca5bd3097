// Measures the phases of a comparison alternately, at several numbers of calls in flight.
import { drive, together } from './load.mjs';
import { cpuMs, difference } from './stage.mjs';

const levels = [1, 16, 64, 256];
/** The level at which the bars apply. It is measured longer. */
const barLevel = 64;
const rounds = 2;

/**
 * Measures the phases of one comparison and returns one row per phase and level. A phase has `operation`, `by` (who
 * does it) and `send`. Optional: `units` (operations per call), `maxInFlight`, `warmUpSeconds`, `pid` (the server that
 * does the work if it is not the gateway), `isOwnProcess` (this process does the work). `countAt`: the levels at which
 * the DynamoDB calls and units of the gateway are counted, which takes two seconds more each time.
 */
export async function measure(stage, phases, { seconds, inFlight = levels, countAt = [barLevel] }) {
  const failures = [];
  for (const { send, warmUpSeconds = 1, maxInFlight = barLevel } of phases)
    failures.push(
      ...(await drive({ inFlight: Math.min(barLevel, maxInFlight), seconds: warmUpSeconds, send })).failures,
    );
  const runs = new Map(
    phases.map((phase) => [
      phase,
      new Map(inFlight.filter((level) => level <= (phase.maxInFlight ?? level)).map((level) => [level, []])),
    ]),
  );
  const isCounted = ({ pid, isOwnProcess }, level) => !pid && !isOwnProcess && countAt.includes(level);
  for (let round = 0; round < rounds; round++) {
    for (const level of inFlight) {
      for (const phase of phases.filter((one) => runs.get(one).has(level))) {
        const counts = isCounted(phase, level) ? await stage.counts() : undefined;
        const before = cpuOf(stage, phase);
        const run = await drive({
          inFlight: level,
          seconds: (level === barLevel ? seconds : seconds / 3) / rounds,
          send: phase.send,
        });
        const used = difference(cpuOf(stage, phase), before);
        if (counts) Object.assign(used, difference(await stage.counts(), counts));
        runs
          .get(phase)
          .get(level)
          .push({ ...run, used });
      }
    }
  }
  const rows = [...runs].flatMap(([phase, byLevel]) =>
    [...byLevel].sort(([a], [b]) => a - b).map(([level, all]) => rowOf(phase, level, all, failures)),
  );
  return { rows, failures };
}

function cpuOf(stage, { pid, isOwnProcess }) {
  const { gatewayMs, loadMs, engineMs } = stage.cpu();
  return { engineMs, ownMs: pid ? cpuMs(pid) : isOwnProcess ? loadMs : gatewayMs };
}

function rowOf({ operation, by, units = 1 }, inFlight, runs, failed) {
  const { count, perSecond, p50, p99, failures } = together(runs);
  failed.push(...failures);
  const done = count * units;
  const each = (name) => runs.reduce((sum, { used }) => sum + used[name], 0) / done;
  const isCounted = runs.every(({ used }) => 'calls' in used);
  return {
    operation,
    by,
    inFlight,
    perSecond: perSecond * units,
    p50Ms: p50,
    p99Ms: p99,
    cpuMs: each('ownMs'),
    engineCpuMs: each('engineMs'),
    ...(isCounted ? { storeCalls: each('calls'), readUnits: each('read'), writeUnits: each('write') } : {}),
  };
}

const totalCpuMs = ({ cpuMs: own, engineCpuMs }) => own + engineCpuMs;

/** What a comparison measures: its value, how it is printed, and whether the value meets the bar. */
const figures = {
  /** Operations per second, relative to the other. */
  rate: {
    of: (row, other) => row.perSecond / other.perSecond,
    text: (value, title) => `${value.toFixed(2)} × ${title}`,
    isAtLeast: true,
  },
  /** CPU of the process that does the work, per operation, relative to the other. */
  ownCpu: {
    of: (row, other) => row.cpuMs / other.cpuMs,
    text: (value, title) => `CPU ${value.toFixed(2)} × ${title}`,
  },
  /** CPU of that process and of the engine per operation, relative to the other. */
  totalCpu: {
    of: (row, other) => totalCpuMs(row) / totalCpuMs(other),
    text: (value, title) => `total CPU ${value.toFixed(2)} × ${title}`,
  },
  /** Microseconds of CPU per operation beyond those of the other. */
  moreCpu: {
    of: (row, other) => (row.cpuMs - other.cpuMs) * 1000,
    text: (value, title) => `${value.toFixed(0)} µs more CPU than ${title}`,
  },
  /** Store calls per operation. Compared with nothing. */
  storeCalls: { of: (row) => row.storeCalls, text: (value) => `${value.toFixed(2)} store calls` },
  /** Write units per operation. Compared with nothing. */
  writeUnits: { of: (row) => row.writeUnits, text: (value) => `${value.toFixed(2)} write units` },
};

/**
 * Adds to each row how it compares with the rows of others at the same level, and the bar at the level where it
 * applies. A comparison names a figure of `figures` (default: the rate).
 */
export function compare(rows, comparisons) {
  for (const row of rows) {
    row.against = comparisons
      .filter(({ operation, by = 'Tollgate' }) => operation === row.operation && by === row.by)
      .flatMap(({ to, bar, at = barLevel, title = to?.by, figure = 'rate' }) => {
        const { of, text, isAtLeast = false } = figures[figure];
        const other = to
          ? rows.find(
              ({ operation, by, inFlight }) =>
                operation === (to.operation ?? row.operation) && by === to.by && inFlight === row.inFlight,
            )
          : row;
        if (!other) return [];
        const value = of(row, other);
        // Calls and units are not counted at every level.
        if (value === undefined) return [];
        const judged = bar !== undefined && row.inFlight === at;
        const isMet = isAtLeast ? value >= bar : value <= bar;
        return [{ text: text(value, title), value, ...(judged ? { bar, isAtLeast, isMet } : {}) }];
      });
  }
  return rows;
}
