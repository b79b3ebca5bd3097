import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { parseSync } from '@swc/core';
import fc from 'fast-check';

const root = new URL('../../src/', import.meta.url).pathname;

interface Found {
  readonly path: string;
  readonly pattern: string;
  readonly flags: string;
}

/** Every regular expression literal of the sources. */
const found: Found[] = readdirSync(root, { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts'))
  .flatMap((path) =>
    literalsIn(parseSync(readFileSync(join(root, path), 'utf8'), { syntax: 'typescript', decorators: true }), path),
  );

function literalsIn(node: unknown, path: string): Found[] {
  if (typeof node !== 'object' || node === null) return [];
  const { type, pattern, flags } = node as Partial<Record<string, string>>;
  if (type === 'RegExpLiteral') return [{ path, pattern: pattern ?? '', flags: flags ?? '' }];
  return Object.values(node).flatMap((child) => literalsIn(child, path));
}

const maxLength = 256 * 1024;
const maxPrefix = 24;

/** What to repeat: the beginnings of texts that match, and every character they are made of. */
function pumpsOf({ pattern, flags }: Found): string[] {
  // The generator knows no assertions, character properties, flags or characters that are not printable. Without them a text may match less well; its beginning is the same.
  const plain = pattern
    .replace(/\(\?<?[!=][^)]*\)/g, '')
    .replaceAll('\\p{Cc}', '\\x01')
    .replaceAll('[^\\x20-\\x7e]', '\\x01');
  const samples = fc.sample(fc.stringMatching(new RegExp(`^(?:${plain})`, flags.replace(/[giy]/g, ''))), {
    numRuns: 5,
    seed: 1,
  });
  const prefixes = samples.flatMap((sample) =>
    Array.from({ length: Math.min(maxPrefix, sample.length) }, (_, i) => sample.slice(0, i + 1)),
  );
  const characters = [...new Set([...samples.join('').slice(0, 100), ...plain.replace(/\\[a-zA-Z]/g, '')])];
  return [...new Set([...prefixes, ...characters])];
}

// Runs in a thread of its own, which can be ended: nothing else ends a regular expression that does not come to an end.
const measure = `
  const { parentPort, workerData: { pattern, flags, pumps, sizes, floorMs } } = require('node:worker_threads');
  const regex = new RegExp(pattern, flags);
  const once = (text) => {
    const startedMs = performance.now();
    regex.lastIndex = 0;
    text.replace(regex, '');
    return performance.now() - startedMs;
  };
  // A busy machine makes some runs slow, a slow pattern all of them.
  const timeOf = (text) => {
    const ms = once(text);
    return ms < floorMs ? ms : Math.min(ms, once(text), once(text));
  };
  const textOf = (pump, tail, size) => pump.repeat(Math.ceil(size / pump.length)).slice(0, size) + tail;
  for (const pump of pumps) for (const tail of ['', '\\0!']) {
    const [smallMs, largeMs] = sizes.map((size) => timeOf(textOf(pump, tail, size)));
    parentPort.postMessage({ pump, smallMs, largeMs });
  }
`;
const floorMs = 250;
const maxGrowth = 8;
const patienceMs = 150_000;

/** The texts on which the time grows faster than the text; four times the text may take eight times as long. */
function superLinear({ pattern, flags }: Found, pumps: readonly string[], length = maxLength): Promise<string[]> {
  return new Promise((resolve, reject) => {
    const slow: string[] = [];
    let last = 'the first text';
    const worker = new Worker(measure, {
      eval: true,
      workerData: { pattern, flags, pumps, sizes: [length / 4, length], floorMs },
    });
    const timer = setTimeout(() => {
      resolve([...slow, `no end after ${patienceMs} ms, after ${last}`]);
      void worker.terminate();
    }, patienceMs);
    worker.on('message', ({ pump, smallMs, largeMs }: { pump: string; smallMs: number; largeMs: number }) => {
      last = JSON.stringify(pump);
      if (largeMs > floorMs && largeMs > maxGrowth * smallMs)
        slow.push(`${last}: ${Math.round(smallMs)} ms, ${Math.round(largeMs)} ms`);
    });
    worker.once('error', reject);
    worker.once('exit', () => {
      clearTimeout(timer);
      resolve(slow);
    });
  });
}

describe('a regular expression', () => {
  it('is written as a literal, so that the tests below find it', () => {
    expect(found.length).toBeGreaterThan(20);
    const made = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter(
      (path) => path.endsWith('.ts') && /\bRegExp\(/.test(readFileSync(join(root, path), 'utf8')),
    );
    expect(made).toEqual([]);
  });

  it('that takes quadratic time is found out', async () => {
    const quadratic = { path: 'none', pattern: 'eyJ[A-Za-z0-9_-]{8,}\\.[A-Za-z0-9_-]+', flags: 'g' };
    expect(pumpsOf(quadratic)).toContain('eyJ');
    // An eighth of the length shows the growth and comes to an end.
    expect(await superLinear(quadratic, ['eyJ'], maxLength / 8)).not.toEqual([]);
  });

  it.each(found.map((literal) => [`/${literal.pattern}/${literal.flags}`, literal.path, literal] as const))(
    'takes time in proportion to 256 KB of its own beginnings: %s of %s',
    async (_text, _path, literal) => {
      const pumps = pumpsOf(literal);
      expect(pumps.length).toBeGreaterThan(0);
      expect(await superLinear(literal, pumps)).toEqual([]);
    },
  );
});
