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
 * does the work if it is not the gateway), `isOwnProcess` (this process does the work).
 */
export async function measure(stage, phases, { seconds, inFlight = levels }) {
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
  for (let round = 0; round < rounds; round++) {
    for (const level of inFlight) {
      for (const phase of phases.filter((one) => runs.get(one).has(level))) {
        const before = await usedBy(stage, phase);
        const run = await drive({
          inFlight: level,
          seconds: (level === barLevel ? seconds : seconds / 3) / rounds,
          send: phase.send,
        });
        runs
          .get(phase)
          .get(level)
          .push({ ...run, used: difference(await usedBy(stage, phase), before) });
      }
    }
  }
  const rows = [...runs].flatMap(([phase, byLevel]) =>
    [...byLevel].sort(([a], [b]) => a - b).map(([level, all]) => rowOf(phase, level, all, failures)),
  );
  return { rows, failures };
}

async function usedBy(stage, { pid, isOwnProcess }) {
  const { gatewayMs, loadMs, ...used } = await stage.used();
  return { ...used, ownMs: pid ? cpuMs(pid) : isOwnProcess ? loadMs : gatewayMs };
}

function rowOf({ operation, by, units = 1, pid, isOwnProcess }, inFlight, runs, failed) {
  const { count, perSecond, p50, p99, failures } = together(runs);
  failed.push(...failures);
  const done = count * units;
  const each = (name) => runs.reduce((sum, { used }) => sum + used[name], 0) / done;
  const isGateway = !pid && !isOwnProcess;
  return {
    operation,
    by,
    inFlight,
    perSecond: perSecond * units,
    p50Ms: p50,
    p99Ms: p99,
    cpuMs: each('ownMs'),
    engineCpuMs: each('engineMs'),
    ...(isGateway ? { storeCalls: each('calls'), readUnits: each('read'), writeUnits: each('write') } : {}),
  };
}

/** Adds to each row its ratio to the rows of others at the same level, and the bar at the level where it applies. */
export function compare(rows, comparisons) {
  for (const row of rows) {
    row.against = comparisons
      .filter(({ operation, by = 'Tollgate' }) => operation === row.operation && by === row.by)
      .flatMap(({ to, bar, at = barLevel, title = to.by }) => {
        const other = rows.find(
          ({ operation, by, inFlight }) =>
            operation === (to.operation ?? row.operation) && by === to.by && inFlight === row.inFlight,
        );
        if (!other) return [];
        const ratio = row.perSecond / other.perSecond;
        return [
          { to: title, ratio, ...(bar !== undefined && row.inFlight === at ? { bar, isMet: ratio >= bar } : {}) },
        ];
      });
  }
  return rows;
}
