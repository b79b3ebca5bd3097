import type { Clock } from '../lib/clock.js';
import { badInput, Overloaded } from '../lib/errors.js';
import { Semaphore } from '../lib/semaphore.js';
import type { ReadingsRef } from './device.js';
import { type Metric, metricNames } from './reading.js';
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

const maxConcurrentReads = 4;
const maxWaitingReads = 64;
/** An operation ends after 5 s. A range that takes longer than this to read is refused, with where to cut it. */
const maxReadMs = 4000;

export interface SeriesRequest {
  readonly device: ReadingsRef;
  readonly metric: Metric;
  readonly range: SeriesRange;
}

type Series = SeriesPoint[] | Error;

export class SeriesService {
  private readonly reads = new Semaphore(
    maxConcurrentReads,
    maxWaitingReads,
    () => new Overloaded('too many series are being read at the same time; retry'),
  );

  constructor(
    private readonly readings: ReadingStore,
    private readonly clock: Clock,
  ) {}

  /**
   * The points of each series, or its error, in the order of the requests. Series of the same device and time range are
   * read once, whatever their metrics and steps.
   */
  async draw(requests: readonly SeriesRequest[], budget: ReadingBudget): Promise<Series[]> {
    const groups = new Map<string, SeriesRequest[]>();
    for (const request of requests) {
      const { orgId, hardwareId, generation } = request.device;
      const name = [orgId, hardwareId, generation, request.range.fromMs, request.range.toMs].join(' ');
      groups.set(name, [...(groups.get(name) ?? []), request]);
    }
    const drawn = await Promise.all([...groups.values()].map((group) => this.drawGroup(group, budget)));
    const series = new Map(drawn.flat());
    return requests.map((request) => series.get(request) as Series);
  }

  private async drawGroup(
    group: readonly SeriesRequest[],
    budget: ReadingBudget,
  ): Promise<(readonly [SeriesRequest, Series])[]> {
    const invalid = group.flatMap((request) => {
      const issues = seriesIssues(request.range);
      return issues.length > 0 ? [[request, badInput(...issues)] as const] : [];
    });
    const valid = group.filter((request) => !invalid.some(([other]) => other === request));
    if (valid.length === 0) return invalid;
    try {
      const points = await this.reads.run(() => this.read(valid, budget));
      return [...invalid, ...valid.map((request, i) => [request, points[i] as SeriesPoint[]] as const)];
    } catch (error) {
      return [...invalid, ...valid.map((request) => [request, error as Error] as const)];
    }
  }

  private async read(group: readonly SeriesRequest[], budget: ReadingBudget): Promise<SeriesPoint[][]> {
    const [{ device, range }] = group as readonly [SeriesRequest];
    const endMs = this.clock.monotonicMs() + maxReadMs;
    const series = group.map((request) => ({
      range: request.range,
      column: metricNames.indexOf(request.metric),
      sums: emptySums(request.range),
    }));
    for await (const page of this.readings.samples(device, range)) {
      for (const { timestampMs, values } of page)
        for (const each of series) {
          const value = values[each.column];
          if (typeof value === 'number') addTo(each.sums, each.range, timestampMs, value);
        }
      const reachedMs = page.at(-1)?.timestampMs ?? range.fromMs;
      if (!budget.spend(page.length))
        throw tooLong(range, reachedMs, `exceeds the maximum of ${budget.max} readings per operation`);
      if (this.clock.monotonicMs() > endMs)
        throw tooLong(range, reachedMs, `takes longer to read than the maximum of ${maxReadMs / 1000} s per operation`);
    }
    return series.map((each) => pointsOf(each.range, each.sums));
  }
}
