// Ends the engine when its input closes, so that not even a `kill -9` of Tollgate leaves it behind with the data open.
// Its files are for their owner alone.
const script =
  'umask 077; exec 3<&0; "$0" "$@" & engine=$!; trap "kill $engine" TERM; (cat >/dev/null; kill $engine 2>/dev/null) <&3 & wait $engine';

/** The program and arguments that run a command under guard. Windows has no shell for it. */
export const guarded = (command: string, args: readonly string[]): [command: string, args: string[]] =>
  process.platform === 'win32' ? [command, [...args]] : ['/bin/sh', ['-c', script, command, ...args]];
