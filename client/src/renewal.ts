import type { Clock } from './clock.js';

export interface RenewalDeps {
  readonly clock: Clock;
  failed(operation: string, error: unknown): void;
}

export interface Renewal {
  readonly ttlSecs: number;
  /** Ends the renewals. */
  readonly signal: AbortSignal;
}

/** Renews a hold at half of its life, until the signal is aborted or a renewal fails. */
export async function keepRenewed(
  { clock, failed }: RenewalDeps,
  { ttlSecs, signal }: Renewal,
  renew: () => Promise<unknown>,
): Promise<void> {
  try {
    for (;;) {
      await clock.sleep(ttlSecs * 500, signal);
      await renew();
    }
  } catch (error) {
    if (!signal.aborted) failed('renew', error);
  }
}
