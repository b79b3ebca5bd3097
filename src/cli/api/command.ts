// Reading order of this folder: command (one declaration per command), values (arguments to variables), run (one
// command from end to end), session (credentials), gateway-api (requests), config-file, output, prompt.
import type { ArgumentKind } from './values.js';

/** An argument or option of a command, and the variable of the document that it sets. */
export interface CliParam {
  /** As commander writes it: `<appId>`, `[day]`, `--label <label>`, `--ledger <yes|no>`. */
  readonly flags: string;
  readonly text: string;
  /** The path of the variable, for example `input.label`. Absent if the command reads the value itself. */
  readonly to?: string;
  /** Default: text. */
  readonly as?: ArgumentKind;
  readonly choices?: readonly string[];
  /** The option must be given. Arguments in `<>` always must. */
  readonly required?: true;
  /** The value if the option is absent. */
  readonly fallback?: string;
  /** For an option without a value: the value that it stands for. */
  readonly means?: string;
}

/** A column of a table: the path of a field, with a title if the path is none, and how to show it. */
export interface CliColumn {
  readonly path: string;
  readonly title?: string;
  /** `usd`: micro-dollars. `list`: names of a list. Default: text as it is. */
  readonly show?: 'usd' | 'list' | 'limits' | 'quotas' | 'time' | 'counters' | 'details' | 'prices';
}

/** The arguments and options by the name that commander gives them. */
export type CliArguments = Readonly<Record<string, string | readonly string[] | boolean | undefined>>;

/** One command of the API: a document, its arguments and its columns. One function runs them all. */
export interface CliCommand {
  /** The words after `tollgate`, for example `org list`. */
  readonly name: string;
  readonly text: string;
  readonly document: string;
  readonly params?: readonly CliParam[];
  /** Where `--org` goes. Absent: the command is not about one org. */
  readonly org?: 'orgId' | 'input.orgId';
  /** The path of the rows in the response: a list, or one object. */
  readonly rows: string;
  readonly columns: readonly (string | CliColumn)[];
  /** The field that `-o name` prints. Default: the first column. */
  readonly id?: string;
  /** Another document, which is sent if this option is given. */
  readonly variant?: Pick<CliCommand, 'document' | 'rows' | 'connection'> & { readonly option: string };
  /** Variables that follow from several options. */
  readonly derive?: (given: CliArguments) => Readonly<Record<string, unknown>>;
  /** The path of the connection. The document takes `$first` and `$after`. */
  readonly connection?: string;
  /** Asks before it is sent, because it cannot be undone. */
  readonly confirm?: string;
  /** The path of a one-time token, which is exchanged for the secret that is shown. */
  readonly retrieval?: string;
  /** Sends the caller's own secret as `input.currentSecret`, unless the caller is the platform admin. */
  readonly provesSecret?: true;
  /** Printed instead of rows, for a response that is true or false. */
  readonly done?: string;
  /** A subscription: prints events until it is stopped. `cursor`: the field to resume after, by `$after`. */
  readonly follow?: { readonly cursor?: string };
  /** True for a response that refuses the caller. The command then exits with 3. */
  readonly isRefusal?: (rows: readonly Record<string, unknown>[]) => boolean;
}
