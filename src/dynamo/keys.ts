// A separator or control character in an id could make the key of one id equal to the key of another.
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it refuses
const unfitForKeys = /[#/\u0000-\u001f\u007f]/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it refuses
const unfitWhereSlashed = /[#\u0000-\u001f\u007f]/;
const maxKeyBytes = 1024; // a sort key's limit; a partition key may be twice as long

/** A value that may contain a slash. No separator after it in its key is a slash. */
export interface Slashed {
  readonly slashed: string;
}
export const slashed = (value: string): Slashed => ({ slashed: value });

/**
 * The only way to build keys: key`ORG#${orgId}#APP#${appId}`. A value that contains a separator is refused, so equal
 * keys mean equal values. If this throws, the validation of the input has a gap: it is a bug, not a user error.
 */
export function key(literals: TemplateStringsArray, ...values: readonly (string | number | Slashed)[]): string {
  let built = literals[0] ?? '';
  values.forEach((value, i) => {
    const maySlash = typeof value === 'object';
    const text = maySlash ? value.slashed : String(value);
    const after = literals[i + 1] ?? '';
    const isLast = i === values.length - 1;
    const unfit = maySlash ? unfitWhereSlashed : unfitForKeys;
    if (text === '' || unfit.test(text) || !text.isWellFormed())
      throw new Error(`not allowed in a key: ${JSON.stringify(text.slice(0, 80))}`);
    if (!isLast && !(maySlash ? /^#/ : /^[#/]/).test(after))
      throw new Error('two values of a key must have a separator between them');
    built += text + after;
  });
  if (Buffer.byteLength(built) > maxKeyBytes)
    throw new Error(`key has ${Buffer.byteLength(built)} bytes; the maximum is ${maxKeyBytes}`);
  return built;
}
