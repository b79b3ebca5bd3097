import { useEffect, useState } from 'preact/hooks';
import { age, clock, fullTime, serverNow } from '../lib/time.js';
import { useZone } from '../shell/context.js';

/** Figures are summed every minute. Older ones mean that no worker runs. */
const staleAfterMs = 3 * 60_000;

export const isStale = (asOf: string | null | undefined): boolean =>
  typeof asOf === 'string' && serverNow() - Date.parse(asOf) > staleAfterMs;

/** The oldest of several times. A label without any cost has none; null if no label has. */
export const oldest = (times: readonly (string | null)[]): string | null =>
  times.filter((time) => time !== null).sort()[0] ?? null;

/** Renders again every few seconds, so that ages stay true. */
export function useTick(everyMs = 5000): void {
  const [, setCount] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => setCount((count) => count + 1), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
}

/** How fresh figures are, and that they are stale if they are. */
export function AsOf({ at }: { readonly at: string | null }) {
  const zone = useZone();
  useTick();
  if (at === null) return <>No costs yet today. The worker sums them every minute.</>;
  return (
    <>
      <span title={fullTime(at, zone)}>
        Includes all costs until {clock(at, zone)} ({age(at)})
      </span>
      {isStale(at) && '. Stale: no worker has summed them since.'}
    </>
  );
}

/** A moment with its age; its whole form on hover. */
export function Ago({ at }: { readonly at: string }) {
  const zone = useZone();
  useTick();
  return (
    <time dateTime={at} title={fullTime(at, zone)}>
      {age(at)}
    </time>
  );
}
