import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Takes the data folder for this process. Two engines on one file would each believe they own it. */
export function claimDataDir(dataDir: string): void {
  const path = join(dataDir, 'tollgate.pid');
  const holder = existsSync(path) ? Number(readFileSync(path, 'utf8')) : 0;
  if (holder > 0 && holder !== process.pid && isTollgate(holder)) {
    throw new Error(
      `another Tollgate (process ${holder}) uses the data folder ${dataDir}: stop it, or name another folder with TOLLGATE_DATA_DIR`,
    );
  }
  writeFileSync(path, String(process.pid), { mode: 0o600 });
}

/** Alive, and not some other program that was given the number of one that died. */
function isTollgate(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  const commandLine = `/proc/${pid}/cmdline`;
  return !existsSync(commandLine) || /node/.test(readFileSync(commandLine, 'utf8'));
}
