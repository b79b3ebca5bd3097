import type { Clock } from '../lib/clock.js';
import { Overloaded, refuseAny } from '../lib/errors.js';
import { Semaphore } from '../lib/semaphore.js';
import type { ReadingsRef } from './device.js';
import { type Metric, metrics } from './reading.js';
import type { ReadingStore } from './reading.store.js';
import {
  addTo,
  emptySums,
  pointsOf,
  type ReadingBudget,
  type SeriesPoint,
  type SeriesRange,
  seriesIssues,
  tooLong,
} from './series.js';

const maxCharts = 4;
const maxWaiting = 64;
/** An operation ends after 5 s. A range that takes this long to read would not be done by then. */
const maxDrawMs = 4000;

export interface SeriesRequest {
  readonly device: ReadingsRef;
  readonly metric: Metric;
  readonly range: SeriesRange;
}

export class SeriesService {
  private readonly charts = new Semaphore(
    maxCharts,
    maxWaiting,
    () => new Overloaded('too many series are being read at once; retry'),
  );

  constructor(
    private readonly readings: ReadingStore,
    private readonly clock: Clock,
  ) {}

  /** Points for charts, or the fault of each, in order. Reads each range of a device once, whatever the metrics and steps. */
  async draw(requests: readonly SeriesRequest[], budget: ReadingBudget): Promise<(SeriesPoint[] | Error)[]> {
    const drawn = new Map<SeriesRequest, SeriesPoint[] | Error>();
    const groups = new Map<string, SeriesRequest[]>();
    for (const request of requests) {
      const { orgId, hardwareId, generation } = request.device;
      const name = [orgId, hardwareId, generation, request.range.fromMs, request.range.toMs].join(' ');
      groups.set(name, [...(groups.get(name) ?? []), request]);
    }
    await Promise.all([...groups.values()].map((group) => this.drawGroup(group, budget, drawn)));
    return requests.map((request) => drawn.get(request) as SeriesPoint[] | Error);
  }

  private async drawGroup(
    group: readonly SeriesRequest[],
    budget: ReadingBudget,
    drawn: Map<SeriesRequest, SeriesPoint[] | Error>,
  ): Promise<void> {
    const sound = group.filter((request) => {
      try {
        refuseAny(seriesIssues(request.range));
        return true;
      } catch (error) {
        drawn.set(request, error as Error);
        return false;
      }
    });
    if (sound.length === 0) return;
    try {
      const points = await this.charts.run(() => this.read(sound, budget));
      for (const [i, request] of sound.entries()) drawn.set(request, points[i] as SeriesPoint[]);
    } catch (error) {
      for (const request of sound) drawn.set(request, error as Error);
    }
  }

  private async read(group: readonly SeriesRequest[], budget: ReadingBudget): Promise<SeriesPoint[][]> {
    const [{ device, range }] = group as readonly [SeriesRequest];
    const untilMs = this.clock.monotonicMs() + maxDrawMs;
    const charts = group.map((request) => ({
      range: request.range,
      attribute: metrics[request.metric].attribute,
      sums: emptySums(request.range),
    }));
    for await (const page of this.readings.samples(device, range, [...new Set(group.map(({ metric }) => metric))])) {
      for (const { timestampMs, values } of page)
        for (const { range: own, attribute, sums } of charts) {
          const value = values[attribute];
          if (value !== undefined) addTo(sums, own, timestampMs, value);
        }
      const reachedMs = page.at(-1)?.timestampMs ?? range.fromMs;
      if (!budget.spend(page.length))
        throw tooLong(range, reachedMs, `exceeds the maximum of ${budget.max} readings per operation`);
      if (this.clock.monotonicMs() > untilMs)
        throw tooLong(range, reachedMs, `takes longer to read than the ${maxDrawMs / 1000} s an operation has for it`);
    }
    return charts.map(({ range: own, sums }) => pointsOf(own, sums));
  }
}
