const activeMs = 1000;
const maxOrgs = 1000;

/** The orgs that have sent an operation within the last one to two seconds. */
export class ActiveOrgs {
  private current = new Set<string>();
  private previous = new Set<string>();
  private sinceMs = Number.NEGATIVE_INFINITY;

  add(orgId: string, nowMs: number): void {
    this.rotate(nowMs);
    // More orgs make no difference: it is known that there are others.
    if (this.current.size < maxOrgs) this.current.add(orgId);
  }

  /** Whether an org other than this one is active. */
  hasOthers(orgId: string, nowMs: number): boolean {
    this.rotate(nowMs);
    return [this.current, this.previous].some((orgs) => orgs.size > (orgs.has(orgId) ? 1 : 0));
  }

  private rotate(nowMs: number): void {
    if (nowMs - this.sinceMs < activeMs) return;
    this.previous = nowMs - this.sinceMs < 2 * activeMs ? this.current : new Set();
    this.current = new Set();
    this.sinceMs = nowMs;
  }
}
