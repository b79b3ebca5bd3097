import type { Issue } from '../../lib/errors.js';

/** A value that a cost counts under, beside its app and label: for example the user that made the call. */
export interface Dimension {
  readonly name: string;
  readonly value: string;
}

/** The value under which all values beyond the maximum of a day are counted. */
export const otherValue = 'other';

// The separator of keys and control characters are refused.
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it refuses
const unfit = /[#\u0000-\u001f\u007f]/;
export const maxValueLength = 128;

/** The issues of the dimensions that a cost carries, each with its path below `input`. */
export function dimensionValueIssues(dimensions: readonly Dimension[], configured: readonly string[]): Issue[] {
  const names = dimensions.map(({ name }) => name);
  return dimensions.flatMap(({ name, value }, i) => [
    ...(configured.includes(name) ? [] : [unknownName(i, configured)]),
    ...(names.indexOf(name) === i
      ? []
      : [{ path: `input.dimensions.${i}.name`, message: 'is listed twice; a cost has one value per dimension' }]),
    ...(isValue(value)
      ? []
      : [
          {
            path: `input.dimensions.${i}.value`,
            message: `must have 1 to ${maxValueLength} characters, without # and control characters`,
          },
        ]),
  ]);
}

const unknownName = (i: number, configured: readonly string[]): Issue => ({
  path: `input.dimensions.${i}.name`,
  message:
    configured.length === 0
      ? 'the org has no dimensions; add one with updateOrg(dimensions: …)'
      : `is not a dimension of the org; its dimensions are ${configured.join(', ')}`,
});

export const isValue = (value: string): boolean =>
  value.length > 0 && value.length <= maxValueLength && !unfit.test(value) && value.isWellFormed();
