import { useEffect, useRef, useState } from 'preact/hooks';
import { Link, useLocation } from 'wouter-preact';
import { useQuery } from '../data/client.js';
import { OrgNamesDocument } from '../gql/graphql.js';
import { Icon } from '../ui/icon.js';
import { Loaded } from '../ui/states.js';
import { orgPath } from './routes.js';

interface SwitcherProps {
  readonly orgId: string | undefined;
  readonly name: string;
}

/** The org on screen. The platform admin switches to another one here; its orgs are read when the list opens. */
export function OrgSwitcher({ orgId, name }: SwitcherProps) {
  const [isOpen, setOpen] = useState(false);
  const popover = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const element = popover.current;
    const onToggle = (event: Event) => setOpen((event as ToggleEvent).newState === 'open');
    element?.addEventListener('toggle', onToggle);
    return () => element?.removeEventListener('toggle', onToggle);
  }, []);
  return (
    <>
      <button type="button" class="org-button" popovertarget="org-list" aria-label={`Switch org: ${name}`}>
        <Icon name="orgs" />
        <span class="name">{name}</span>
        <Icon name="switch" />
      </button>
      <div ref={popover} id="org-list" class="popover popover-org" popover="auto">
        {isOpen && <OrgList current={orgId} onPick={() => popover.current?.hidePopover()} />}
      </div>
    </>
  );
}

const filteredFrom = 8;

function OrgList({ current, onPick }: { readonly current: string | undefined; readonly onPick: () => void }) {
  const [location] = useLocation();
  const [filter, setFilter] = useState('');
  const query = useQuery(OrgNamesDocument, {});
  // The same page of the other org, if the page is not about one object.
  const [, page = '/overview'] = /^\/o\/[^/]+(\/[a-z]+)/.exec(location) ?? [];
  return (
    <Loaded query={query} what="the orgs">
      {({ orgs: { nodes, pageInfo } }) => (
        <>
          {nodes.length >= filteredFrom && (
            <input
              class="input"
              type="search"
              placeholder="Filter"
              aria-label="Filter orgs"
              value={filter}
              onInput={(event) => setFilter(event.currentTarget.value)}
            />
          )}
          {nodes
            .filter(({ name, orgId }) => `${name} ${orgId}`.toLowerCase().includes(filter.toLowerCase()))
            .map(({ orgId, name }) => (
              <Link
                key={orgId}
                href={orgPath(orgId, page)}
                class="menu-item"
                aria-current={orgId === current ? 'true' : undefined}
                onClick={onPick}
              >
                {name}
              </Link>
            ))}
          {pageInfo.hasNextPage && <p class="hint">Only the first 100 orgs are listed.</p>}
          <div class="menu-line" />
          <Link href="/orgs" class="menu-item" onClick={onPick}>
            All orgs
          </Link>
        </>
      )}
    </Loaded>
  );
}
