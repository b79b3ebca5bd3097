import { readFileSync } from 'node:fs';

/** A test vector of the reference limiter: `function` with `input` must return `expected`. */
export interface Vector<I, E> {
  readonly name: string;
  readonly function: string;
  readonly input: I;
  readonly expected: E;
}

export const { vectors } = JSON.parse(readFileSync(new URL('limits.json', import.meta.url), 'utf8')) as {
  vectors: Vector<unknown, unknown>[];
};

/**
 * The vectors of a function, as rows for `it.each`. `test/unit/limits/vectors.test.ts` checks that none is left out.
 */
export function vectorsOf<I, E>(name: string): [string, I, E][] {
  const found = vectors.filter((vector) => vector.function === name);
  if (found.length === 0) throw new Error(`no vector has the function ${name}`);
  return found.map((vector) => [vector.name, vector.input as I, vector.expected as E]);
}
