/**
 * So many times longer than stated a test waits for what must come. On a quiet machine it comes in time and nothing is lost; on
 * a busy one a test must not fail because the machine has other work. How fast something is, `npm run bench` measures.
 */
export const patience = 10;
