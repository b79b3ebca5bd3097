import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { Session } from '../data/session.js';
import type { OrgFrameFragment } from '../gql/graphql.js';
import { Store } from '../lib/store.js';

export const SessionContext = createContext<Session | undefined>(undefined);

export function useSession(): Session {
  const session = useContext(SessionContext);
  if (!session) throw new Error('useSession needs a signed-in session');
  return session;
}

/** The org that a page is about, with its day as the gateway counts it. */
export interface OrgView extends OrgFrameFragment {
  /** Today in the time zone of the org. */
  readonly day: string;
  /** The end of today. */
  readonly resetsAt: string;
}

export const OrgContext = createContext<OrgView | undefined>(undefined);

export function useOrg(): OrgView {
  const org = useContext(OrgContext);
  if (!org) throw new Error('useOrg needs the page of an org');
  return org;
}

/** The org that was on screen last. The pages of the platform keep the links to its pages. */
export const lastOrg = new Store<{ readonly orgId: string; readonly name: string } | undefined>(undefined);

/** The time zone of the org on screen, in which all times are shown. */
export const useZone = (): string => useOrg().timezone;

/** Null if the session may change things, else the reason why it may not. */
export function useWriteBlock(): string | null {
  const { role } = useSession();
  return role === 'READ' ? 'This session is read-only. Sign in with a client of the role FULL to change things.' : null;
}
