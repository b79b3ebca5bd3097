/** The name of an entry with the text of its value. Undefined: time for the caller to pause. */
export type JsonEntry = readonly [name: string, text: string] | undefined;

/**
 * The entries of a JSON object one after the other, so that a list of megabytes is not parsed in one piece. Yields
 * undefined after every `charsPerPause` characters. Throws if the text is not an object. The values are not checked.
 */
export function* jsonEntries(text: string, charsPerPause = 65_536): Generator<JsonEntry> {
  let at = skipSpace(text, 0);
  if (text[at] !== '{') throw new Error('the text is not a JSON object');
  at = skipSpace(text, at + 1);
  let pauseAt = charsPerPause;
  for (let isFirst = true; text[at] !== '}'; isFirst = false) {
    if (!isFirst) at = skipSpace(text, after(',', text, at));
    const nameEnd = endOfString(text, at);
    const start = skipSpace(text, after(':', text, skipSpace(text, nameEnd)));
    const end = endOfValue(text, start);
    yield [JSON.parse(text.slice(at, nameEnd)) as string, text.slice(start, end)];
    at = skipSpace(text, end);
    if (at < pauseAt) continue;
    pauseAt = at + charsPerPause;
    yield undefined;
  }
  if (skipSpace(text, at + 1) < text.length) throw new Error('there is text after the JSON object');
}

function skipSpace(text: string, from: number): number {
  let at = from;
  while (at < text.length && ' \t\r\n'.includes(text.charAt(at))) at++;
  return at;
}

/** The position after a mark that must be here. */
function after(mark: string, text: string, at: number): number {
  if (text[at] === mark) return at + 1;
  throw new Error(`expected ${mark} at character ${at} of the JSON object`);
}

/** The position after the string that begins here. */
function endOfString(text: string, from: number): number {
  after('"', text, from);
  for (let at = text.indexOf('"', from + 1); at > 0; at = text.indexOf('"', at + 1))
    if (!isEscaped(text, at)) return at + 1;
  throw new Error('a string of the JSON object does not end');
}

function isEscaped(text: string, at: number): boolean {
  let slashes = 0;
  while (text[at - slashes - 1] === '\\') slashes++;
  return slashes % 2 === 1;
}

/** The position after the value that begins here. */
function endOfValue(text: string, from: number): number {
  if (text[from] === '"') return endOfString(text, from);
  if (text[from] !== '{' && text[from] !== '[') return endOfScalar(text, from);
  for (let at = from, depth = 0; at < text.length; at++) {
    const mark = text[at];
    if (mark === '"') at = endOfString(text, at) - 1;
    else if (mark === '{' || mark === '[') depth++;
    else if ((mark === '}' || mark === ']') && --depth === 0) return at + 1;
  }
  throw new Error('a value of the JSON object does not end');
}

function endOfScalar(text: string, from: number): number {
  let at = from;
  while (at < text.length && !',}] \t\r\n'.includes(text.charAt(at))) at++;
  if (at === from) throw new Error(`expected a value at character ${at} of the JSON object`);
  return at;
}
