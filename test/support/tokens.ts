import { Lexer, Source, TokenKind } from 'graphql';

/** How many tokens graphql-js counts in a document. */
export function tokensOf(text: string): number {
  const lexer = new Lexer(new Source(text));
  let count = 0;
  while (lexer.advance().kind !== TokenKind.EOF) count++;
  return count;
}

/** So many fields of the caller, of several names: fields of the same name are bounded. */
export const callerFields = (count: number): string =>
  Array.from({ length: count }, (_, i) => ['kind', 'clientId', '__typename'][i % 3]).join(' ');
