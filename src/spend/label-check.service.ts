import type { Log } from '../lib/log.js';
import type { Org } from '../orgs/settings.js';
import type { Catalog } from './catalog/catalog.js';

const pageSize = 100;
/** Bounds the work at start. The orgs that were registered first are read. */
const maxOrgs = 1000;
/** Bounds the length of the log line. */
const maxLoggedOrgs = 20;

export interface LabelCheckDeps {
  readonly orgs: { listOrgs(limit: number, after?: Org): Promise<Org[]> };
  readonly catalog: Catalog;
  readonly log: Log;
}

/**
 * Logs a warning about orgs whose settings name labels that the catalog does not have. Selections skip those labels.
 */
export class LabelCheckService {
  private running: Promise<void> | undefined;

  constructor(private readonly deps: LabelCheckDeps) {}

  /** Runs the check without waiting for it, because its result is only logged. */
  start(): void {
    this.running = this.run().catch((error: unknown) =>
      this.deps.log.warn({ err: error }, 'failed to check the labels of the orgs'),
    );
  }

  /** Resolves when the check is done. */
  async stop(): Promise<void> {
    await this.running;
  }

  async run(): Promise<void> {
    const { orgs, catalog, log } = this.deps;
    const found: { readonly orgId: string; readonly labels: readonly string[] }[] = [];
    let checked = 0;
    for (let after: Org | undefined; checked < maxOrgs; ) {
      const page = await orgs.listOrgs(pageSize, after);
      for (const { orgId, modelOrdering, quotas } of page) {
        const labels = [...new Set([...modelOrdering, ...quotas.map(({ label }) => label)])].filter(
          (label) => !catalog.has(label),
        );
        if (labels.length > 0) found.push({ orgId, labels });
      }
      checked += page.length;
      after = page.at(-1);
      if (page.length < pageSize) break;
    }
    if (found.length === 0) return;
    log.warn(
      { orgs: found.slice(0, maxLoggedOrgs), count: found.length, checked },
      'orgs use labels that are not in the catalog; selections skip them',
    );
  }
}
