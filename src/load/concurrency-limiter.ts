import { Overloaded, rateLimited } from '../lib/errors.js';
import type { EventLoopScheduler } from '../lib/event-loop-scheduler.js';

/** Looked at so often, an event loop busier than this with answers later than that has too much to do. */
const reviewMs = 100;
const busyShare = 0.9;
const lateMs = 500;
const leastRoom = 256;

/** An operation's place in the process. */
export interface Slot {
  /** Call when its answer is ready: how long that took decides how much room there is. */
  answered(): void;
  /** Call when its response has been flushed. */
  release(): void;
}

export interface Surroundings {
  monotonicMs(): number;
  /** The share of the time since the last call in which the event loop was busy. */
  utilization(): number;
}

/**
 * How much this process takes on: at most so much, and less where it cannot answer in time. What it cannot serve soon it
 * refuses at the overload, before a byte of it is read, for as little work as can be; lists and history go when half of the
 * room is taken, so that the rest is left to what counts.
 */
export class ConcurrencyLimiter {
  private underWay = 0;
  private readonly byOrg = new Map<string, number>();
  private readonly orgs = new ActiveOrgs();
  private room: number;
  private reviewedMs: number;
  private answered = 0;
  private answeredMs = 0;

  /** `most` operations at once; 0 is no bound. */
  constructor(
    private readonly most: number,
    private readonly around: Surroundings,
    private readonly scheduler: EventLoopScheduler,
  ) {
    this.room = most;
    this.reviewedMs = around.monotonicMs();
  }

  get isFull(): boolean {
    return this.most > 0 && this.underWay >= this.room;
  }

  /** Throws when there is no room; else resolves when it is this operation's turn. */
  async enter(): Promise<Slot> {
    if (this.isFull) throw overloaded();
    this.underWay++;
    const enteredMs = this.around.monotonicMs();
    await this.scheduler.turn('fresh');
    let isHeld = true;
    return {
      answered: () => this.answeredAfter(enteredMs),
      release: () => {
        if (isHeld) this.underWay--;
        isHeld = false;
      },
    };
  }

  /**
   * Counts an operation against its org; returns what ends that. Throws if the org has half of the room while other orgs are
   * active, so that no org can fill a gateway however many clients it has.
   */
  share(orgId: string): () => void {
    this.orgs.active(orgId, this.around.monotonicMs());
    const running = this.byOrg.get(orgId) ?? 0;
    const half = Math.max(1, Math.floor(this.room / 2));
    if (this.most > 0 && running >= half && this.orgs.hasOthers(orgId, this.around.monotonicMs()))
      throw rateLimited(
        "this org already uses half of the gateway's concurrency while other orgs are active: retry in a second",
        1000,
        {
          name: 'org-concurrency',
          quota: half,
          windowSecs: 1,
        },
      );
    this.byOrg.set(orgId, running + 1);
    return () => {
      const left = (this.byOrg.get(orgId) ?? 1) - 1;
      if (left > 0) this.byOrg.set(orgId, left);
      else this.byOrg.delete(orgId);
    };
  }

  private answeredAfter(enteredMs: number): void {
    const nowMs = this.around.monotonicMs();
    this.answered++;
    this.answeredMs += nowMs - enteredMs;
    if (nowMs - this.reviewedMs > reviewMs) this.review(nowMs);
  }

  /** Less room where the process is busy and late, more again where it is not. A slow store alone is no reason. */
  private review(nowMs: number): void {
    const isLate = this.answeredMs / this.answered > lateMs;
    const isBusy = this.around.utilization() > busyShare;
    this.room =
      isLate && isBusy
        ? Math.max(Math.min(leastRoom, this.most), this.room * 0.9)
        : Math.min(this.most, this.room * 1.05 + 1);
    this.reviewedMs = nowMs;
    this.answered = 0;
    this.answeredMs = 0;
  }

  /** Whether lists have to make room. */
  get isHalfFull(): boolean {
    return this.most > 0 && this.underWay > Math.max(1, this.room / 2);
  }

  /** Throws where a list has to make room. */
  refuseList(): void {
    if (this.isHalfFull)
      throw new Overloaded(
        'the gateway is busy and leaves lists and history for later; nothing was changed: try again in a second',
      );
  }
}

export const overloaded = (): Overloaded => new Overloaded(refusalText);
export const refusalText =
  'the gateway has more under way than it can serve; nothing was changed: try again in a second';

const activeMs = 1000;
const maxRemembered = 1000;

/** Which orgs have sent an operation within the last one to two seconds. */
class ActiveOrgs {
  private current = new Set<string>();
  private previous = new Set<string>();
  private sinceMs = Number.NEGATIVE_INFINITY;

  active(orgId: string, nowMs: number): void {
    this.turn(nowMs);
    // More names would tell no more: there are others.
    if (this.current.size < maxRemembered) this.current.add(orgId);
  }

  hasOthers(orgId: string, nowMs: number): boolean {
    this.turn(nowMs);
    return [this.current, this.previous].some((orgs) => orgs.size > (orgs.has(orgId) ? 1 : 0));
  }

  private turn(nowMs: number): void {
    if (nowMs - this.sinceMs < activeMs) return;
    this.previous = nowMs - this.sinceMs < 2 * activeMs ? this.current : new Set();
    this.current = new Set();
    this.sinceMs = nowMs;
  }
}
