/** A word of the command line with the words that may follow it. */
export interface CompletionNode {
  /** The words before, for example `org` or `org list`. Empty for the first word. */
  readonly path: string;
  readonly commands: readonly { readonly name: string; readonly text: string }[];
  /** Long options, for example `--from`. */
  readonly options: readonly string[];
}

export const completionShells = ['bash', 'zsh', 'fish'] as const;
export type CompletionShell = (typeof completionShells)[number];

/** A script that completes commands and options. It contains all words and calls nothing. */
export function completionScript(shell: CompletionShell, nodes: readonly CompletionNode[]): string {
  return { bash, zsh, fish }[shell](nodes);
}

const words = ({ commands, options }: CompletionNode): string =>
  [...commands.map(({ name }) => name), ...options].join(' ');

/** The words before the cursor that are commands, joined by a space. Options and their values are left out. */
const bash = (nodes: readonly CompletionNode[]): string => `# bash completion for tollgate
# Load it with: source <(tollgate completion bash)
_tollgate() {
  local current="\${COMP_WORDS[COMP_CWORD]}" path="" word i
  for ((i = 1; i < COMP_CWORD && i < 3; i++)); do
    word="\${COMP_WORDS[i]}"
    [[ "$word" == -* ]] && break
    path="\${path:+$path }$word"
  done
  local words=""
  case "$path" in
${nodes.map((node) => `    '${node.path}') words='${words(node)}' ;;`).join('\n')}
    *) words='${words(nodes.find(({ path }) => path === '') as CompletionNode)}' ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _tollgate tollgate
`;

const zsh = (nodes: readonly CompletionNode[]): string => `#compdef tollgate
# zsh completion for tollgate
# Load it with: source <(tollgate completion zsh)
_tollgate() {
  local path_words="" word i
  for ((i = 2; i < CURRENT && i < 4; i++)); do
    word="\${words[i]}"
    [[ "$word" == -* ]] && break
    path_words="\${path_words:+$path_words }$word"
  done
  case "$path_words" in
${nodes.map((node) => `    '${node.path}') compadd -- ${words(node)} ;;`).join('\n')}
    *) _files ;;
  esac
}
if [[ "$funcstack[1]" == "_tollgate" ]]; then
  _tollgate "$@"
elif (( $+functions[compdef] )); then
  compdef _tollgate tollgate
fi
`;

// A description is text. Quotes and backticks in it would mean something to the shell.
const quoted = (text: string): string => `'${text.replace(/[\\'`]/g, '')}'`;

const fish = (nodes: readonly CompletionNode[]): string => {
  const globals = nodes.find(({ path }) => path === '')?.options ?? [];
  return `# fish completion for tollgate
# Load it with: tollgate completion fish | source
function __tollgate_at
  set -l tokens (commandline -opc)
  set -l path
  for token in $tokens[2..-1]
    string match -q -- '-*' $token; and break
    set -a path $token
    test (count $path) -ge 2; and break
  end
  test "$path" = "$argv"
end
complete -c tollgate -f
${globals.map((option) => `complete -c tollgate -l ${option.slice(2)}`).join('\n')}
${nodes.flatMap((node) => fishLines(node, globals)).join('\n')}
`;
};

const fishLines = ({ path, commands, options }: CompletionNode, globals: readonly string[]): string[] => {
  const at = `complete -c tollgate -n "__tollgate_at ${path}"`;
  return [
    ...commands.map(({ name, text }) => `${at} -a ${name} -d ${quoted(text)}`),
    ...options.filter((option) => !globals.includes(option)).map((option) => `${at} -l ${option.slice(2)}`),
  ];
};
