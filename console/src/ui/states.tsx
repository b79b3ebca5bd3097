import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { explain, isOutdated, Problem } from '../data/problem.js';
import { age } from '../lib/time.js';
import { Icon } from './icon.js';

export const Loading = ({ what }: { readonly what: string }) => (
  <div class="loading" role="status">
    <Icon name="spinner" class="spin" />
    Loading {what}…
  </div>
);

/** Says what happened and offers to try again. */
export function Failure({
  what,
  error,
  onRetry,
}: {
  readonly what: string;
  readonly error: unknown;
  readonly onRetry?: () => void;
}) {
  const requestId = error instanceof Problem ? error.details.requestId : undefined;
  return (
    <div class="failure" role="alert">
      <Icon name="warning" />
      <div>
        <strong>{what}</strong>
        <p>{explain(error)}</p>
        {requestId && (
          <p class="muted small">
            Request id <code>{requestId}</code>
          </p>
        )}
        {onRetry && (
          <button type="button" class="button small" onClick={isOutdated(error) ? () => location.reload() : onRetry}>
            <Icon name="refresh" />
            {isOutdated(error) ? 'Reload' : 'Try again'}
          </button>
        )}
      </div>
    </div>
  );
}

/** Copies a text, and says so. */
export function CopyButton({ text, label = 'Copy' }: { readonly text: string; readonly label?: string }) {
  const [state, setState] = useState<'idle' | 'copied' | 'failed'>('idle');
  const copy = () =>
    navigator.clipboard.writeText(text).then(
      () => setState('copied'),
      () => setState('failed'),
    );
  const said = { idle: label, copied: 'Copied', failed: 'Select and copy it' }[state];
  return (
    <button type="button" class="button plain small" onClick={copy}>
      <Icon name={state === 'copied' ? 'check' : 'copy'} />
      <span aria-live="polite">{said}</span>
    </button>
  );
}

export const Command = ({ text }: { readonly text: string }) => (
  <div class="command">
    <code>{text}</code>
    <CopyButton text={text} />
  </div>
);

/** A list without entries: why, and one command that makes the first. */
export function Empty({
  title,
  children,
  command,
}: {
  readonly title: string;
  readonly children?: ComponentChildren;
  readonly command?: string | undefined;
}) {
  return (
    <div class="empty">
      <h3>{title}</h3>
      {children && <p>{children}</p>}
      {command && <Command text={command} />}
    </div>
  );
}

/** The part of a query that its state depends on. */
export interface Loadable<T> {
  readonly data?: T | undefined;
  readonly error: unknown;
  readonly dataUpdatedAt: number;
  readonly refetch: () => unknown;
}

interface LoadedProps<T> {
  readonly query: Loadable<T>;
  /** The thing that is loaded, for the sentence "Loading …". */
  readonly what: string;
  readonly children: (data: T) => ComponentChildren;
}

/** The result of a query, or its state. A result that could not be refreshed stays, marked as stale. */
export function Loaded<T>({ query, what, children }: LoadedProps<T>) {
  const { data, error, dataUpdatedAt, refetch } = query;
  if (data === undefined)
    return error ? (
      <Failure what={`Could not load ${what}`} error={error} onRetry={() => void refetch()} />
    ) : (
      <Loading what={what} />
    );
  if (!error) return <>{children(data)}</>;
  return (
    <>
      <div class="notice" role="status">
        <Icon name="warning" />
        <span>
          Could not refresh {what}; this is from {age(dataUpdatedAt)}. {explain(error)}
        </span>
        <button type="button" class="button small" onClick={() => void refetch()}>
          Try again
        </button>
      </div>
      <div class="stale">{children(data)}</div>
    </>
  );
}
