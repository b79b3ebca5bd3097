import type { Issue } from './errors.js';

/**
 * Control characters, line separators and characters that change the text direction. A name with them can look like
 * another name, or break a log line.
 */
const unsafe = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/u;

/** True if the text is safe to show in one line: no control or bidirectional characters, no lone surrogates. */
export const isOneLine = (text: string): boolean => text.isWellFormed() && !unsafe.test(text);

const maxName = 128;

/** Why a name of an org, app or client is refused. */
export function nameIssues(name: string): Issue[] {
  const isValid = name.trim().length > 0 && [...name].length <= maxName && isOneLine(name);
  const bounds = `must have 1 to ${maxName} characters, not be blank`;
  return isValid
    ? []
    : [{ path: 'input.name', message: `${bounds}, and have no control or text-direction characters` }];
}
