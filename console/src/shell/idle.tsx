import { useEffect, useState } from 'preact/hooks';
import { explain } from '../data/problem.js';
import { idleEndsAt, renewSession } from '../data/session.js';
import { serverNow } from '../lib/time.js';
import { useAction } from '../ui/dialog.js';
import { Icon } from '../ui/icon.js';
import { useSession } from './context.js';

const checkedEveryMs = 10_000;
const warnedBeforeMs = 3 * 60_000;

/** Warns before the session ends, and finds out when it has. */
export function IdleNotice() {
  const session = useSession();
  const [leftMs, setLeftMs] = useState(Number.POSITIVE_INFINITY);
  const { run, error } = useAction(renewSession);
  useEffect(() => {
    const check = () => {
      const left = Math.min(idleEndsAt(session) - Date.now(), Date.parse(session.expiresAt) - serverNow());
      setLeftMs(left);
      if (left < -checkedEveryMs) void renewSession().catch(() => undefined);
    };
    check();
    const timer = setInterval(check, checkedEveryMs);
    return () => clearInterval(timer);
  }, [session]);
  if (leftMs > warnedBeforeMs) return null;
  const isWhole = Date.parse(session.expiresAt) - serverNow() <= warnedBeforeMs;
  return (
    <div class="notice" role="status">
      <Icon name="info" />
      {isWhole
        ? 'Your session ends soon, because it is 12 hours old. Sign in again then.'
        : 'You will be signed out soon.'}
      {error !== undefined && <span>{explain(error)}</span>}
      {!isWhole && (
        <button type="button" class="button small" onClick={() => void run()}>
          Stay signed in
        </button>
      )}
    </div>
  );
}
