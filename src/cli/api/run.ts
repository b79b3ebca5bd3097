import { TollgateError } from '@tollgate/client';
import { UsageError } from '../help.js';
import { shutdownSignal } from '../signals.js';
import type { CliArguments, CliCommand, CliParam } from './command.js';
import { updateContext } from './config-file.js';
import type { GatewayApi } from './gateway-api.js';
import { formatOf, formatted, formattedEvent, type OutputFormat, type OutputRow, type OutputRows } from './output.js';
import { confirmed, type Terminal } from './prompt.js';
import type { CliSession, GlobalOptions } from './session.js';
import { convert, getPath, setPath } from './values.js';

/** The exit code of a refusal: by the permissions or limits of the caller, or because somebody else made a change. */
export const refusedCode = 3;
const refusals = ['UNAUTHENTICATED', 'FORBIDDEN', 'RATE_LIMITED', 'VERSION_CONFLICT'];

/** The exit code of an error. */
export const exitCodeOf = (error: unknown): number =>
  error instanceof TollgateError && refusals.includes(error.code) ? refusedCode : 1;

export interface RunOptions extends GlobalOptions {
  readonly max?: string;
  readonly all?: boolean;
  readonly yes?: boolean;
}

/** One call of a command of the API. */
export interface CliCall {
  readonly command: CliCommand;
  readonly given: CliArguments;
  readonly options: RunOptions;
  readonly session: CliSession;
  readonly api: GatewayApi;
  readonly terminal: Terminal;
  readonly print: (text: string) => void;
}

/** Runs a command and prints its result. Returns the exit code. */
export async function runCommand(given: CliCall): Promise<number> {
  const call = { ...given, command: variantOf(given) };
  const { command, options, print } = call;
  const format = formatOf(options.output);
  const variables = variablesOf(call);
  if (command.follow) return followed(call, variables, format);
  if (command.confirm && !(await confirmed(command.confirm, options.yes === true, call.terminal))) return 1;
  const { rows, isSingle, data } = await resultOf(call, variables);
  if (command.done !== undefined) {
    const isDone = getPath(data, command.rows) !== false;
    if (!options.quiet) print(isDone ? `${command.done}\n` : 'Nothing to do.\n');
    return 0;
  }
  if (isSingle && rows.length === 0)
    throw new TollgateError(
      'NOT_FOUND',
      'not found: it does not exist, or you may not see it; check the name and --org',
    );
  if (rows.length === 0 && format === 'table' && !options.quiet) call.terminal.output.write('None found.\n');
  print(formatted({ rows, isSingle }, format, command));
  return command.isRefusal?.(rows) ? refusedCode : 0;
}

/** The name under which commander stores the value of a parameter. */
export const nameOf = ({ flags }: Pick<CliParam, 'flags'>): string => {
  const [, long] = /--([a-z0-9-]+)/.exec(flags) ?? [];
  if (long === undefined) return flags.replace(/[<>[\].]/g, '');
  return long.replace(/-([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
};

/** The command with the document of its variant, if the option of that is given. */
function variantOf({ command, given }: CliCall): CliCommand {
  const { variant } = command;
  return variant && given[variant.option] !== undefined ? { ...command, ...variant } : command;
}

function variablesOf({ command, given, session }: CliCall): Record<string, unknown> {
  const variables: Record<string, unknown> = {};
  for (const param of command.params ?? []) {
    const value = givenValue(param, given[nameOf(param)]);
    if (value === undefined || param.to === undefined) continue;
    checkChoice(param, value);
    setPath(variables, param.to, convert(param.flags, param.as, value));
  }
  for (const [path, value] of Object.entries(command.derive?.(given) ?? {})) setPath(variables, path, value);
  if (command.org && session.orgId !== undefined) setPath(variables, command.org, session.orgId);
  if (command.provesSecret && session.clientSecret !== undefined)
    setPath(variables, 'input.currentSecret', session.clientSecret);
  return variables;
}

function givenValue(
  { fallback, means }: CliParam,
  value: CliArguments[string],
): string | readonly string[] | undefined {
  if (typeof value === 'boolean') return value ? means : undefined;
  return value ?? fallback;
}

function checkChoice({ flags, choices }: CliParam, value: string | readonly string[]): void {
  const wrong = [value].flat().find((each) => choices && !choices.includes(each.toLowerCase()));
  if (wrong !== undefined) throw new UsageError(`${flags}: "${wrong}" must be one of ${choices?.join(', ')}`);
}

const pageSize = 100;
const defaultRows = 50;

async function resultOf(call: CliCall, variables: Record<string, unknown>): Promise<OutputRows & { data: unknown }> {
  const { command, api } = call;
  if (command.connection !== undefined) return { ...(await pagesOf(call, variables)), data: undefined };
  const data = await api.query<Record<string, unknown>>(command.document, variables);
  const found = getPath(data, command.rows);
  if (Array.isArray(found)) return { rows: found as OutputRow[], isSingle: false, data };
  if (typeof found !== 'object' || found === null) return { rows: [], isSingle: true, data };
  const secret = command.retrieval === undefined ? {} : await retrievedSecret(call, getPath(data, command.retrieval));
  return { rows: [{ ...(found as OutputRow), ...secret }], isSingle: true, data };
}

/** The rows of a list, page by page, up to `--max`, or all of them. */
async function pagesOf({ command, api, options, print }: CliCall, variables: object): Promise<OutputRows> {
  const max = options.all
    ? Number.POSITIVE_INFINITY
    : Number(convert('--max', 'int', options.max ?? String(defaultRows)));
  if (max < 1) throw new UsageError('--max must be 1 or larger');
  const rows: OutputRow[] = [];
  let after: unknown;
  // JSON lines are printed as they come, because such a list may be too long for memory.
  const isStreamed = options.output === 'jsonl';
  for (let count = 0; count < max; ) {
    const page = { ...variables, first: Math.min(pageSize, max - count), after };
    const data = await api.query<Record<string, unknown>>(command.document, page);
    const found = (getPath(data, command.rows) ?? []) as OutputRow[];
    if (isStreamed) print(formatted({ rows: found, isSingle: false }, 'jsonl', command));
    else rows.push(...found);
    count += found.length;
    const info = getPath(data, `${command.connection}.pageInfo`) as
      | { hasNextPage: boolean; endCursor: string }
      | undefined;
    if (!info?.hasNextPage) break;
    after = info.endCursor;
  }
  return { rows, isSingle: false };
}

const retrieveDocument = 'mutation ($token: String!) { retrieveSecret(token: $token) { clientId clientSecret } }';

/** Exchanges a one-time token for the secret. The secret of the caller itself replaces the one in its context. */
async function retrievedSecret({ api, session }: CliCall, token: unknown): Promise<OutputRow> {
  const { retrieveSecret } = await api.query<{ retrieveSecret: { clientId: string; clientSecret: string } }>(
    retrieveDocument,
    { token },
  );
  const { clientId, clientSecret } = retrieveSecret;
  const { contextName, path } = session;
  if (contextName !== undefined && session.clientId === clientId)
    updateContext(path, contextName, (before) => before && { ...before, clientSecret });
  return { clientId, clientSecret };
}

/** Prints the events of a subscription until a signal. */
async function followed(call: CliCall, variables: Record<string, unknown>, format: OutputFormat): Promise<number> {
  const { command, api, print } = call;
  const stop = new AbortController();
  void shutdownSignal().then(() => stop.abort());
  let after = variables.after;
  try {
    const events = api.follow<Record<string, unknown>>(command.document, () => ({ ...variables, after }), stop.signal);
    for await (const data of events) {
      const row = getPath(data, command.rows) as OutputRow;
      if (command.follow?.cursor) after = getPath(row, command.follow.cursor);
      print(formattedEvent(row, format, command));
    }
  } catch (error) {
    if (!stop.signal.aborted) throw error;
  }
  return 0;
}
