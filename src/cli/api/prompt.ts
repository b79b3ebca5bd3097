import { createInterface } from 'node:readline/promises';
import { text } from 'node:stream/consumers';

/** The terminal, or what stands for it in a script. */
export interface PromptInput extends NodeJS.ReadableStream {
  readonly isTTY?: boolean;
  setRawMode?(raw: boolean): unknown;
}
export interface Terminal {
  readonly input: PromptInput;
  /** Questions go here, so that they are not part of the result. */
  readonly output: NodeJS.WritableStream;
}

export const processTerminal = (): Terminal => ({ input: process.stdin, output: process.stderr });

/** Asks for a line that may be seen. */
export async function ask(question: string, { input, output }: Terminal): Promise<string> {
  const lines = createInterface({ input, output });
  try {
    return (await lines.question(question)).trim();
  } finally {
    lines.close();
  }
}

/** Reads a secret: typed without echo on a terminal, else the whole standard input. */
export async function askSecret(question: string, { input, output }: Terminal): Promise<string> {
  if (!input.isTTY || !input.setRawMode) return (await text(input)).trim();
  output.write(question);
  input.setRawMode(true);
  try {
    return await typed(input);
  } finally {
    input.setRawMode(false);
    output.write('\n');
  }
}

const endOfText = '\u0003';
const lineEnds = ['\r', '\n', '\u0004'];
const erase = ['\u007f', '\b'];

function typed(input: NodeJS.ReadableStream): Promise<string> {
  return new Promise((resolve, reject) => {
    let secret = '';
    const read = (chunk: Buffer | string): void => {
      for (const character of chunk.toString()) {
        if (character === endOfText || lineEnds.includes(character)) {
          input.off('data', read);
          input.pause();
          if (character === endOfText) reject(new Error('stopped'));
          else resolve(secret);
          return;
        }
        secret = erase.includes(character) ? secret.slice(0, -1) : secret + character;
      }
    };
    input.on('data', read);
    input.resume();
  });
}

/** Asks before something that cannot be undone. Without a terminal, the caller must have said `--yes`. */
export async function confirmed(question: string, isSure: boolean, terminal: Terminal): Promise<boolean> {
  if (isSure) return true;
  if (!terminal.input.isTTY) throw new Error(`${question} Nobody can be asked here; repeat the command with --yes`);
  return /^y(es)?$/i.test(await ask(`${question} [y/N] `, terminal));
}
