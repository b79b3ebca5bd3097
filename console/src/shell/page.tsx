import type { ComponentChildren } from 'preact';
import { useContext, useEffect, useRef } from 'preact/hooks';
import { OrgContext } from './context.js';
import { useIsFirst } from './first.js';

interface PageProps {
  readonly title: string;
  readonly about?: ComponentChildren;
  readonly actions?: ComponentChildren;
  readonly crumbs?: ComponentChildren;
  readonly children: ComponentChildren;
}

/** The frame of every page. After a navigation the focus is on its title, so that screen readers read it. */
export function Page({ title, about, actions, crumbs, children }: PageProps) {
  const org = useContext(OrgContext);
  const head = useRef<HTMLHeadingElement>(null);
  const isFirst = useIsFirst();
  useEffect(() => {
    document.title = [title, org?.name, 'Tollgate'].filter(Boolean).join(' · ');
  }, [title, org?.name]);
  useEffect(() => {
    if (!isFirst) head.current?.focus();
  }, [isFirst]);
  return (
    <>
      <div class="page-head">
        <div>
          {crumbs && (
            <nav class="crumbs" aria-label="Breadcrumb">
              {crumbs}
            </nav>
          )}
          <h1 ref={head} tabIndex={-1}>
            {title}
          </h1>
          {about && <p class="about">{about}</p>}
        </div>
        {actions && <div class="actions">{actions}</div>}
      </div>
      {children}
    </>
  );
}

/** Says in which zone the days and times of a page are. */
export function ZoneNote() {
  const org = useContext(OrgContext);
  if (!org) return null;
  return (
    <>
      Days and times in {org.timezone}
      {org.timezoneEffectiveAt && ', which takes effect at the end of today'}
    </>
  );
}
