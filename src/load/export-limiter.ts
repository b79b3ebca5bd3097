import { rateLimited } from '../lib/errors.js';

/** Exports last long, so that they must not use up the concurrency of the gateway. */
export const maxExportsPerOrg = 4;

/** Limits the concurrent exports of each org in this process. */
export class ExportLimiter {
  private readonly running = new Map<string, number>();

  /** Counts an export until the returned function is called. Throws RATE_LIMITED above the limit. */
  admit(orgId: string): () => void {
    const others = this.running.get(orgId) ?? 0;
    if (others >= maxExportsPerOrg)
      throw rateLimited(`more than ${maxExportsPerOrg} concurrent exports of this org`, 1000, {
        name: 'exports',
        quota: maxExportsPerOrg,
        windowSecs: 1,
      });
    this.running.set(orgId, others + 1);
    return () => {
      const left = (this.running.get(orgId) ?? 1) - 1;
      if (left > 0) this.running.set(orgId, left);
      else this.running.delete(orgId);
    };
  }
}
