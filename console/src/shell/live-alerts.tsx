import { type ComponentChildren, createContext } from 'preact';
import { useContext, useRef, useState } from 'preact/hooks';
import { useLocation } from 'wouter-preact';
import { refreshAll } from '../data/client.js';
import { useStream } from '../data/stream.js';
import { LiveAlertsDocument, type LiveAlertsSubscription } from '../gql/graphql.js';
import { alertText } from '../lib/alerts.js';
import { toast } from './toasts.js';

interface LiveAlerts {
  readonly isConnected: boolean;
  /** Alerts since the list of alerts was last looked at. */
  readonly unseen: number;
  readonly markSeen: () => void;
}

const LiveAlertsContext = createContext<LiveAlerts>({ isConnected: false, unseen: 0, markSeen: () => {} });

export const useLiveAlerts = (): LiveAlerts => useContext(LiveAlertsContext);

const refreshedAfterMs = 1000;
let isRefreshing = false;

/** Reads the page again, once for all alerts that arrive together. */
function refreshSoon(): void {
  if (isRefreshing) return;
  isRefreshing = true;
  setTimeout(() => {
    isRefreshing = false;
    void refreshAll();
  }, refreshedAfterMs);
}

/** Follows the alerts of an org: one stream per tab, whatever page is open. */
export function LiveAlertsProvider({
  orgId,
  children,
}: {
  readonly orgId: string;
  readonly children: ComponentChildren;
}) {
  const [unseen, setUnseen] = useState(0);
  const [location] = useLocation();
  const cursor = useRef<string | null>(null);
  const onData = ({ quotaAlerts: alert }: LiveAlertsSubscription) => {
    cursor.current = alert.cursor;
    refreshSoon();
    if (alert.kind === 'GAP') return;
    if (!location.endsWith('/alerts')) setUnseen((count) => count + 1);
    toast(alertText(alert), 'alerts');
  };
  const isConnected = useStream(
    { document: LiveAlertsDocument, variables: () => ({ orgId, after: cursor.current }), onData },
    orgId,
  );
  return (
    <LiveAlertsContext.Provider value={{ isConnected, unseen, markSeen: () => setUnseen(0) }}>
      {children}
    </LiveAlertsContext.Provider>
  );
}

/** Tells whether alerts arrive by themselves. */
export function LiveBadge() {
  const { isConnected } = useLiveAlerts();
  return <span class={`live ${isConnected ? 'on' : ''}`}>{isConnected ? 'Live' : 'Connecting…'}</span>;
}
