import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { parseSync } from '@swc/core';
import fc from 'fast-check';

const root = new URL('../../src/', import.meta.url).pathname;

interface Literal {
  readonly path: string;
  readonly pattern: string;
  readonly flags: string;
}

/** Every regular expression literal in src. */
const literals: Literal[] = readdirSync(root, { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts'))
  .flatMap((path) =>
    literalsIn(parseSync(readFileSync(join(root, path), 'utf8'), { syntax: 'typescript', decorators: true }), path),
  );

function literalsIn(node: unknown, path: string): Literal[] {
  if (typeof node !== 'object' || node === null) return [];
  const { type, pattern, flags } = node as Partial<Record<string, string>>;
  if (type === 'RegExpLiteral') return [{ path, pattern: pattern ?? '', flags: flags ?? '' }];
  return Object.values(node).flatMap((child) => literalsIn(child, path));
}

const maxLength = 256 * 1024;
const maxPrefix = 24;

/** The texts to repeat: the prefixes of matching texts, and every character in them. */
function pumpsOf({ pattern, flags }: Literal): string[] {
  // The generator supports no assertions, character properties, flags or unprintable characters. Without them a text
  // may not match to its end, but its prefix is the same.
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

// Runs in its own thread, because only the end of the thread stops a regular expression that takes too long.
const measure = `
  const { parentPort, workerData: { pattern, flags, pumps, sizes, floorMs } } = require('node:worker_threads');
  const regex = new RegExp(pattern, flags);
  const once = (text) => {
    const startedMs = performance.now();
    regex.lastIndex = 0;
    text.replace(regex, '');
    return performance.now() - startedMs;
  };
  // A busy machine makes some runs slow, a slow pattern makes all of them slow.
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
const timeoutMs = 150_000;

/** The texts on which the time grows faster than the length. Four times the length may take eight times as long. */
function superLinear({ pattern, flags }: Literal, pumps: readonly string[], length = maxLength): Promise<string[]> {
  return new Promise((resolve, reject) => {
    const slow: string[] = [];
    let last = 'the first text';
    const worker = new Worker(measure, {
      eval: true,
      workerData: { pattern, flags, pumps, sizes: [length / 4, length], floorMs },
    });
    const timer = setTimeout(() => {
      resolve([...slow, `not finished after ${timeoutMs} ms; last text: ${last}`]);
      void worker.terminate();
    }, timeoutMs);
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
  it('is written as a literal, so that the tests below check it', () => {
    expect(literals.length).toBeGreaterThan(20);
    const constructed = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter(
      (path) => path.endsWith('.ts') && /\bRegExp\(/.test(readFileSync(join(root, path), 'utf8')),
    );
    expect(constructed).toEqual([]);
  });

  it('is reported if it takes quadratic time', async () => {
    const quadratic = { path: 'none', pattern: 'eyJ[A-Za-z0-9_-]{8,}\\.[A-Za-z0-9_-]+', flags: 'g' };
    expect(pumpsOf(quadratic)).toContain('eyJ');
    // An eighth of the length shows the growth and finishes.
    expect(await superLinear(quadratic, ['eyJ'], maxLength / 8)).not.toEqual([]);
  });

  it.each(literals.map((literal) => [`/${literal.pattern}/${literal.flags}`, literal.path, literal] as const))(
    'takes linear time on 256 KB of its own prefixes: %s in %s',
    async (_text, _path, literal) => {
      const pumps = pumpsOf(literal);
      expect(pumps.length).toBeGreaterThan(0);
      expect(await superLinear(literal, pumps)).toEqual([]);
    },
  );
});
