import { maySeeApp, type Viewer } from '../identity/viewer.js';
import { notFound } from '../lib/errors.js';
import { Lru } from '../lib/lru.js';
import type { Sealer } from '../lib/seal.js';
import type { RequestRef, Reservation, ReservationService, StoredRequest } from '../spend/held/reservation.service.js';

const context = 'admission';
const maxCached = 10_000;
const idPattern = /^[A-Za-z0-9_-]{32,512}$/;

export interface AdmittedCallDeps {
  readonly reservations: Pick<ReservationService, 'load'>;
  readonly sealer: Sealer;
}

/** Admitted calls by their ids. */
export class AdmittedCalls {
  // The reservations that this process made. One that was changed elsewhere fails the condition of its settle.
  private readonly cache = new Lru<string, Reservation>(maxCached);

  constructor(private readonly deps: AdmittedCallDeps) {}

  /** The same for the same request. */
  idOf({ orgId, appId, requestId }: RequestRef): string {
    return this.deps.sealer.seal(context, JSON.stringify([orgId, appId, requestId]));
  }

  /** A call of another tenant gets the same error as a forged id. */
  open(viewer: Viewer, admissionId: string): RequestRef {
    const text = idPattern.test(admissionId) ? this.deps.sealer.open(context, admissionId) : undefined;
    if (text === undefined) throw notFound('admission');
    const [orgId, appId, requestId] = JSON.parse(text) as [string, string, string];
    if (!maySeeApp(viewer, orgId, appId)) throw notFound('admission');
    return { orgId, appId, requestId };
  }

  remember(reservation: Reservation): void {
    this.cache.set(nameOf(reservation), reservation);
  }

  forget(ref: RequestRef): void {
    this.cache.delete(nameOf(ref));
  }

  isRemembered(ref: RequestRef): boolean {
    return this.cache.has(nameOf(ref));
  }

  /** The call as this process knows it, or else as it is stored. Undefined if it has expired. */
  async load(ref: RequestRef): Promise<StoredRequest | undefined> {
    const reservation = this.cache.get(nameOf(ref));
    return reservation ? { state: 'RESERVED', reservation } : this.read(ref);
  }

  /** The call as it is stored. */
  read(ref: RequestRef): Promise<StoredRequest | undefined> {
    return this.deps.reservations.load(ref);
  }
}

const nameOf = ({ orgId, appId, requestId }: RequestRef): string => `${orgId} ${appId} ${requestId}`;
