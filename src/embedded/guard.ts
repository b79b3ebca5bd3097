// Ends the engine when its stdin closes, because even a `kill -9` of Tollgate must not leave the engine running on the
// data. The umask makes the files of the engine accessible to their owner only.
const script = [
  'umask 077',
  'exec 3<&0',
  '"$0" "$@" & engine=$!',
  'trap "kill $engine" TERM',
  '(cat >/dev/null; kill $engine 2>/dev/null) <&3 & wait $engine',
].join('\n');

/** The program and arguments that run a command under this guard. Windows has no shell for it. */
export const guarded = (command: string, args: readonly string[]): [command: string, args: string[]] =>
  process.platform === 'win32' ? [command, [...args]] : ['/bin/sh', ['-c', script, command, ...args]];
