import type { DemoProgress } from '../demo/demo.js';
import type { Clock } from '../lib/clock.js';

const barLength = 24;
const clearLine = '\r\x1b[K';

export const grouped = (count: number): string => count.toLocaleString('en-US');

const countsOf = ({ costs, acquires, readings }: DemoProgress): string =>
  `${grouped(costs)} costs, ${grouped(acquires)} acquires, ${grouped(readings)} readings`;

/** The line of a terminal: bar, day, counts and the time that is left. Never longer than `columns`. */
export function progressBar(progress: DemoProgress, elapsedMs: number, columns: number): string {
  return barLine(progress.hoursDone / progress.hourCount, elapsedMs, progressLine(progress), columns);
}

/** `done`: the share of the work, above 0 and up to 1. */
function barLine(done: number, elapsedMs: number, line: string, columns: number): string {
  const bar = '#'.repeat(Math.round(done * barLength)).padEnd(barLength, '-');
  const leftSecs = Math.ceil(((elapsedMs / done) * (1 - done)) / 1000);
  const percent = String(Math.floor(done * 100)).padStart(3);
  const text = `[${bar}] ${percent}%  ETA ${leftSecs} s  ${line}`;
  return text.slice(0, Math.max(0, columns - 1));
}

/** The line of a log file, for each day. */
export const progressLine = (progress: DemoProgress): string =>
  `day ${progress.dayNumber} of ${progress.dayCount} (${progress.day}): ${countsOf(progress)}`;

/** Where progress is shown: a terminal, or a file or pipe. */
export interface ProgressOutput {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}

/** Shows how far seeding is: a bar that is drawn again on a terminal, else one line for each day. */
export class ProgressDisplay {
  private readonly startedMs: number;
  private last: DemoProgress | undefined;

  constructor(
    private readonly output: ProgressOutput,
    private readonly clock: Clock,
  ) {
    this.startedMs = clock.monotonicMs();
  }

  show(progress: DemoProgress): void {
    const before = this.last;
    this.last = progress;
    if (this.output.isTTY) {
      const elapsedMs = this.clock.monotonicMs() - this.startedMs;
      this.output.write(clearLine + progressBar(progress, elapsedMs, this.output.columns || 80));
    } else if (before && before.dayNumber < progress.dayNumber) this.output.write(`${progressLine(before)}\n`);
  }

  /** Clears the bar, or completes the lines. */
  end(): void {
    if (this.output.isTTY) this.output.write(clearLine);
    else if (this.last) this.output.write(`${progressLine(this.last)}\n`);
  }
}

/** Shows how many of a number of steps are done: a bar on a terminal, else one line for each step. */
export class StepDisplay {
  private readonly startedMs: number;
  private done = 0;

  constructor(
    private readonly output: ProgressOutput,
    private readonly clock: Clock,
    private readonly total: number,
  ) {
    this.startedMs = clock.monotonicMs();
  }

  step(line: string): void {
    this.done++;
    const elapsedMs = this.clock.monotonicMs() - this.startedMs;
    const { isTTY, columns } = this.output;
    if (isTTY) this.output.write(clearLine + barLine(this.done / this.total, elapsedMs, line, columns || 80));
    else this.output.write(`${this.done} of ${this.total}: ${line}\n`);
  }

  /** Clears the bar. */
  end(): void {
    if (this.output.isTTY) this.output.write(clearLine);
  }
}
