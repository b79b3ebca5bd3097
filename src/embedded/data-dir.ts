import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Claims the data folder for this process, because two engines on one file would corrupt it. */
export function claimDataDir(dataDir: string): void {
  const path = join(dataDir, 'tollgate.pid');
  const holder = existsSync(path) ? Number(readFileSync(path, 'utf8')) : 0;
  if (holder > 0 && holder !== process.pid && isTollgate(holder)) {
    throw new Error(
      `the data folder ${dataDir} is in use by another Tollgate (process ${holder}); ` +
        'stop that process, or set TOLLGATE_DATA_DIR to another folder',
    );
  }
  writeFileSync(path, String(process.pid), { mode: 0o600 });
}

/** False if the process has ended, or if another program has its process id by now. */
function isTollgate(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  const commandLine = `/proc/${pid}/cmdline`;
  return !existsSync(commandLine) || /node/.test(readFileSync(commandLine, 'utf8'));
}
