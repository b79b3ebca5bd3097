import { type DestinationStream, type Logger, pino } from 'pino';

export type Log = Pick<Logger, 'debug' | 'info' | 'warn' | 'error' | 'isLevelEnabled'>;

// Secrets have these prefixes, so that they can be recognised in any text.
const secretPrefix = 'tg';
const secretText = /tg[acklrst]_[A-Za-z0-9_-]{8,}/g;
const wordOrJwt = /[A-Za-z0-9_.-]{8,}/g;
const jwtPrefix = 'eyJ';
const minJwtHeaderChars = 11;
const secretFields = /secret|token|password|authorization|api[-_]?key|admin[-_]?key|pepper|hash|cookie/i;

/** Most texts contain neither prefix, so they are not taken apart. */
export const redactText = (text: string): string =>
  text.includes(jwtPrefix) || text.includes(secretPrefix) ? text.replace(wordOrJwt, redactWord) : text;

/** Linear time. A regular expression for a whole JWT would take quadratic time on a long run of its prefix. */
function redactWord(word: string): string {
  const withoutJwt = word.includes(jwtPrefix) ? redactJwt(word) : word;
  return withoutJwt.includes(secretPrefix) ? withoutJwt.replace(secretText, '[redacted]') : withoutJwt;
}

/** Redacts every JWT, from its prefix to the end of its third part. */
function redactJwt(word: string): string {
  const parts = word.split('.');
  const kept: string[] = [];
  for (let i = 0; i < parts.length; i++) {
    const part = parts[i] as string;
    const at = part.indexOf(jwtPrefix);
    const isJwt = at >= 0 && part.length - at >= minJwtHeaderChars && Boolean(parts[i + 1]) && i + 2 < parts.length;
    kept.push(isJwt ? `${part.slice(0, at)}[redacted]` : part);
    if (isJwt) i += 2;
  }
  return kept.join('.');
}

/** A copy for a log line: secrets are redacted by prefix and by field name, errors become plain data. */
export function redact(value: unknown, depth = 0): unknown {
  if (typeof value === 'string') return redactText(value);
  if (typeof value === 'bigint') return value.toString();
  if (typeof value !== 'object' || value === null) return value;
  if (depth > 6) return '[deep]';
  if (value instanceof Error) {
    const { name, message, stack, cause } = value;
    return {
      name,
      message: redactText(message),
      stack: stack && redactText(stack),
      ...(cause ? { cause: redact(cause, depth + 1) } : {}),
    };
  }
  if (Array.isArray(value)) return value.map((entry) => redact(entry, depth + 1));
  return Object.fromEntries(
    Object.entries(value).map(([name, entry]) => [
      redactText(name),
      secretFields.test(name) ? '[redacted]' : redact(entry, depth + 1),
    ]),
  );
}

/** A logger that writes JSON lines. Everything passes `redact` first. */
export function createLog(level: string, destination?: DestinationStream): Logger {
  const options = {
    level,
    base: null,
    formatters: {
      level: (label: string) => ({ level: label }),
      log: (line: Record<string, unknown>) => redact(line) as Record<string, unknown>,
    },
    hooks: {
      logMethod(this: Logger, args: unknown[], method: (...args: unknown[]) => void) {
        method.apply(this, redactedArguments(args));
      },
    },
    timestamp: pino.stdTimeFunctions.isoTime,
  } as const;
  return destination ? pino(options as never, destination) : pino(options as never);
}

/** What pino would print, including the message it takes from an error that was logged without one. */
function redactedArguments([first, ...rest]: readonly unknown[]): unknown[] {
  const error = first instanceof Error ? first : (first as { err?: unknown } | undefined)?.err;
  const others = rest.map((arg) => redact(arg));
  if (typeof first === 'string') return [redactText(first), ...others];
  const line = first instanceof Error ? { err: redact(first) } : first;
  return others.length === 0 && error instanceof Error ? [line, redactText(error.message)] : [line, ...others];
}

export const silentLog: Log = { debug() {}, info() {}, warn() {}, error() {}, isLevelEnabled: () => false };
