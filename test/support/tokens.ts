import { Lexer, Source, TokenKind } from 'graphql';

/** The number of tokens that graphql-js counts in a document. */
export function tokensOf(text: string): number {
  const lexer = new Lexer(new Source(text));
  let count = 0;
  while (lexer.advance().kind !== TokenKind.EOF) count++;
  return count;
}

/** `count` fields of the caller with several names, because fields of the same name are bounded. */
export const callerFields = (count: number): string =>
  Array.from({ length: count }, (_, i) => ['kind', 'clientId', '__typename'][i % 3]).join(' ');
