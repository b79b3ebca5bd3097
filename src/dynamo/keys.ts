// A separator or a control character inside an id would let one id forge the key of another.
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it refuses
const unfitForKeys = /[#/\u0000-\u001f\u007f]/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it refuses
const unfitWhereSlashed = /[#\u0000-\u001f\u007f]/;
const maxKeyBytes = 1024; // a sort key's limit; a partition key may be twice as long

/** A value that may hold a slash; nothing after it in its key is set apart by one. */
export interface Slashed {
  readonly slashed: string;
}
export const slashed = (value: string): Slashed => ({ slashed: value });

/**
 * The one way keys are made: key`ORG#${orgId}#APP#${appId}`. Each value is refused if it could be mistaken for
 * structure, so equal keys mean equal values. A throw here is a hole in the validation before it, not a user's fault.
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
      throw new Error(`unfit for a key: ${JSON.stringify(text.slice(0, 80))}`);
    if (!isLast && !(maySlash ? /^#/ : /^[#/]/).test(after))
      throw new Error('two values of a key need a separator between them');
    built += text + after;
  });
  if (Buffer.byteLength(built) > maxKeyBytes) throw new Error(`key of ${Buffer.byteLength(built)} bytes`);
  return built;
}
