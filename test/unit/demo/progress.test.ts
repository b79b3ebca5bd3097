import { ProgressDisplay, type ProgressOutput, progressBar, StepDisplay } from '../../../src/cli/progress.js';
import type { DemoProgress } from '../../../src/demo/demo.js';
import { stoppedClock } from '../../support/clock.js';

const progress = (dayNumber: number, hoursDone: number): DemoProgress => ({
  day: `2026-11-0${dayNumber}`,
  dayNumber,
  dayCount: 4,
  hoursDone,
  hourCount: 80,
  costs: 1234,
  costUsdMicros: 1,
  acquires: 56,
  refused: 7,
  readings: 8900,
});

class Output implements ProgressOutput {
  text = '';
  constructor(
    readonly isTTY: boolean,
    readonly columns = 80,
  ) {}

  write(text: string): void {
    this.text += text;
  }
}

it('shows a bar with percentage, remaining time, day and counts', () => {
  expect(progressBar(progress(1, 20), 5000, 200)).toBe(
    '[######------------------]  25%  ETA 15 s  day 1 of 4 (2026-11-01): 1,234 costs, 56 acquires, 8,900 readings',
  );
  expect(progressBar(progress(4, 80), 20_000, 200)).toContain('] 100%  ETA 0 s  day 4 of 4');
});

it.each([1, 20, 79, 80])('never makes a line that a terminal of %i columns would wrap', (columns) => {
  expect(progressBar(progress(1, 20), 5000, columns).length).toBeLessThan(columns);
});

it('draws one line again and again on a terminal, and clears it at the end', () => {
  const output = new Output(true, 60);
  const clock = stoppedClock();
  const display = new ProgressDisplay(output, clock);
  clock.advance(3000);
  for (const hoursDone of [1, 2, 3]) display.show(progress(1, hoursDone));
  display.end();
  expect(output.text).not.toContain('\n');
  expect(output.text.split('\r\x1b[K')).toHaveLength(5);
  expect(output.text.endsWith('\r\x1b[K')).toBe(true);
});

it('draws on a terminal that does not know its width', () => {
  const output = new Output(true, 0);
  new ProgressDisplay(output, stoppedClock()).show(progress(1, 20));
  expect(output.text).toContain('25%');
});

it('writes one plain line for each day if the output is no terminal', () => {
  const output = new Output(false);
  const display = new ProgressDisplay(output, stoppedClock());
  for (const [day, hour] of [
    [1, 1],
    [1, 24],
    [2, 25],
    [2, 48],
    [3, 49],
  ] as const)
    display.show(progress(day, hour));
  display.end();
  expect(output.text.match(/^day \d of 4 \(2026-11-0\d\): 1,234 costs, 56 acquires, 8,900 readings$/gm)).toHaveLength(
    3,
  );
  expect(output.text).not.toContain('\x1b');
});

describe('the progress of a number of steps', () => {
  it('is a bar on a terminal, which is cleared at the end', () => {
    const output = new Output(true, 60);
    const clock = stoppedClock();
    const display = new StepDisplay(output, clock, 4);
    clock.advance(1000);
    display.step('create app:chat');
    expect(output.text).toBe('\r\x1b[K[######------------------]  25%  ETA 3 s  create app:chat');
    display.end();
    expect(output.text.endsWith('\r\x1b[K')).toBe(true);
  });

  it('is one plain line for each step otherwise', () => {
    const output = new Output(false);
    const display = new StepDisplay(output, stoppedClock(), 2);
    for (const line of ['create app:a', 'delete app:b']) display.step(line);
    display.end();
    expect(output.text).toBe('1 of 2: create app:a\n2 of 2: delete app:b\n');
  });
});
