import { usePages } from '../../data/client.js';
import { PlatformAuditDocument } from '../../gql/graphql.js';
import { AuditView, useObject } from './audit.js';

/** Who changed the platform itself, such as its catalog. */
export default function PlatformAudit() {
  const [object] = useObject();
  const query = usePages(
    PlatformAuditDocument,
    { entityId: object || null },
    (page) => page.platformAuditEvents.pageInfo,
  );
  const events = query.data?.pages.flatMap((page) => page.platformAuditEvents.nodes) ?? [];
  return <AuditView about="Changes of the platform itself. Times in UTC." zone="UTC" query={query} events={events} />;
}
