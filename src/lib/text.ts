import type { Issue } from './errors.js';

/**
 * Control characters, line separators and the characters that change the direction of text. Names with them look like
 * other names, or break the line of a log.
 */
const unsafe = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/u;

/** Text that is safe to show in one line: no control character, no bidirectional formatting, no lone surrogate. */
export const isOneLine = (text: string): boolean => text.isWellFormed() && !unsafe.test(text);

const maxNameLength = 128;

/** Why a name of an org, app or client is refused. */
export function nameIssues(name: string): Issue[] {
  const isValid = name.trim().length > 0 && [...name].length <= maxNameLength && isOneLine(name);
  const message = `must have 1 to ${maxNameLength} characters, not be blank, and have no control or text-direction characters`;
  return isValid ? [] : [{ path: 'input.name', message }];
}
