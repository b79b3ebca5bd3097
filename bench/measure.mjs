// Phases that are to be compared, at several numbers in flight, side by side.
import { drive, together } from './load.mjs';
import { cpuMs, difference } from './stage.mjs';

const levels = [1, 16, 64, 256];
/** Where bars are judged, and measured for longer. */
const barLevel = 64;
const rounds = 2;

/**
 * Measures the phases of one comparison, and says a row for each at each level. Of a phase: the `operation`, `by` whom it
 * is done, `send`; perhaps the `units` that a call does at once, `mostInFlight`, `warmUpSeconds`, the `pid` of the server that
 * does it where that is not the gateway, and `isByHand` where it is this process itself.
 */
export async function measure(stage, phases, { seconds, inFlight = levels }) {
  const failures = [];
  for (const { send, warmUpSeconds = 1, mostInFlight = barLevel } of phases)
    failures.push(
      ...(await drive({ inFlight: Math.min(barLevel, mostInFlight), seconds: warmUpSeconds, send })).failures,
    );
  const runs = new Map(
    phases.map((phase) => [
      phase,
      new Map(inFlight.filter((level) => level <= (phase.mostInFlight ?? level)).map((level) => [level, []])),
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

async function usedBy(stage, { pid, isByHand }) {
  const { gatewayMs, loadMs, ...used } = await stage.used();
  return { ...used, ownMs: pid ? cpuMs(pid) : isByHand ? loadMs : gatewayMs };
}

function rowOf({ operation, by, units = 1, pid, isByHand }, inFlight, runs, failed) {
  const { count, perSecond, p50, p99, failures } = together(runs);
  failed.push(...failures);
  const done = count * units;
  const each = (name) => runs.reduce((sum, { used }) => sum + used[name], 0) / done;
  const isOurs = !pid && !isByHand;
  return {
    operation,
    by,
    inFlight,
    perSecond: perSecond * units,
    p50Ms: p50,
    p99Ms: p99,
    cpuMs: each('ownMs'),
    engineCpuMs: each('engineMs'),
    ...(isOurs ? { storeCalls: each('calls'), readUnits: each('read'), writeUnits: each('write') } : {}),
  };
}

/** Compares each row with those of the same level that another made, and with the bar at its level. */
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
