import { Overloaded, rateLimited } from '../lib/errors.js';
import type { EventLoopScheduler } from '../lib/event-loop-scheduler.js';
import { ActiveOrgs } from './active-orgs.js';

/** How often the limit is reviewed. It is lowered if the event loop is busier and responses are later than this. */
const reviewMs = 100;
const busyShare = 0.9;
const lateMs = 500;
/** The limit is never lowered below this. */
const minLimit = 256;

/** The place of one operation among the concurrent ones. */
export interface ConcurrencySlot {
  /** Call when the response is ready. Its latency decides the limit. */
  responded(): void;
  /** Call when the response has been flushed. */
  release(): void;
}

export interface LoadGauge {
  monotonicMs(): number;
  /** The share of the time since the last call in which the event loop was busy, 0 to 1. */
  utilization(): number;
}

/**
 * Limits the concurrent operations of this process: at most `max`, and fewer while it cannot respond in time. Above the
 * limit, requests are rejected before their body is read, with as little work as possible. Lists and history are
 * rejected above half of the limit, which leaves the other half to operations that are needed more.
 */
export class ConcurrencyLimiter {
  private running = 0;
  private readonly runningByOrg = new Map<string, number>();
  private readonly activeOrgs = new ActiveOrgs();
  private limit: number;
  private reviewedMs: number;
  private responses = 0;
  private latencySumMs = 0;

  /** `max`: 0 means no limit. */
  constructor(
    private readonly max: number,
    private readonly gauge: LoadGauge,
    private readonly scheduler: EventLoopScheduler,
  ) {
    this.limit = max;
    this.reviewedMs = gauge.monotonicMs();
  }

  get isFull(): boolean {
    return this.max > 0 && this.running >= this.limit;
  }

  /** Whether lists are rejected. */
  get isHalfFull(): boolean {
    return this.max > 0 && this.running > Math.max(1, this.limit / 2);
  }

  /** Resolves when it is the turn of this operation. Throws if the limit is reached. */
  async enter(): Promise<ConcurrencySlot> {
    if (this.isFull) throw overloaded();
    this.running++;
    const enteredMs = this.gauge.monotonicMs();
    await this.scheduler.turn('fresh');
    let isHeld = true;
    return {
      responded: () => this.respondedAfter(enteredMs),
      release: () => {
        if (isHeld) this.running--;
        isHeld = false;
      },
    };
  }

  /**
   * Counts an operation against its org, until the returned function is called. Throws if the org uses half of the
   * limit while other orgs are active, so that no org can fill a gateway, however many clients it has.
   */
  share(orgId: string): () => void {
    const nowMs = this.gauge.monotonicMs();
    this.activeOrgs.add(orgId, nowMs);
    const running = this.runningByOrg.get(orgId) ?? 0;
    const half = Math.max(1, Math.floor(this.limit / 2));
    if (this.max > 0 && running >= half && this.activeOrgs.hasOthers(orgId, nowMs)) throw orgLimitReached(half);
    this.runningByOrg.set(orgId, running + 1);
    return () => {
      const left = (this.runningByOrg.get(orgId) ?? 1) - 1;
      if (left > 0) this.runningByOrg.set(orgId, left);
      else this.runningByOrg.delete(orgId);
    };
  }

  /** Throws if lists are rejected. */
  refuseList(): void {
    if (this.isHalfFull)
      throw new Overloaded('the gateway is busy and rejects lists and history; nothing was changed; retry in 1 second');
  }

  private respondedAfter(enteredMs: number): void {
    const nowMs = this.gauge.monotonicMs();
    this.responses++;
    this.latencySumMs += nowMs - enteredMs;
    if (nowMs - this.reviewedMs > reviewMs) this.review(nowMs);
  }

  /**
   * Lowers the limit while the process is busy and late, and raises it otherwise. A slow DynamoDB alone does not lower
   * it.
   */
  private review(nowMs: number): void {
    const isLate = this.latencySumMs / this.responses > lateMs;
    const isBusy = this.gauge.utilization() > busyShare;
    this.limit =
      isLate && isBusy
        ? Math.max(Math.min(minLimit, this.max), this.limit * 0.9)
        : Math.min(this.max, this.limit * 1.05 + 1);
    this.reviewedMs = nowMs;
    this.responses = 0;
    this.latencySumMs = 0;
  }
}

export const overloaded = (): Overloaded =>
  new Overloaded('the gateway is overloaded; nothing was changed; retry in 1 second');

const orgLimitReached = (quota: number) =>
  rateLimited(
    "this org already uses half of the gateway's concurrency while other orgs are active; retry in 1 second",
    1000,
    { name: 'org-concurrency', quota, windowSecs: 1 },
  );
