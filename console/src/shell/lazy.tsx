import type { ComponentType } from 'preact';
import { useEffect, useErrorBoundary, useState } from 'preact/hooks';
import { Failure, Loading } from '../ui/states.js';
import type { PageModule } from './routes.js';

const loaded = new Map<() => Promise<PageModule>, ComponentType<Record<string, never>>>();

/** A page whose code is loaded when it is opened. */
export function Lazy({ load }: { readonly load: () => Promise<PageModule> }) {
  const [error, setError] = useState<unknown>();
  const [, setCount] = useState(0);
  useEffect(() => {
    if (loaded.has(load)) return;
    setError(undefined);
    load().then((module) => {
      loaded.set(load, module.default);
      setCount((count) => count + 1);
    }, setError);
  }, [load]);
  const [crash] = useErrorBoundary();
  if (crash !== undefined)
    return <Failure what="This page has failed" error={crash} onRetry={() => location.reload()} />;
  const Component = loaded.get(load);
  if (Component) return <Component />;
  if (error !== undefined)
    return (
      <Failure
        what="Could not load this page"
        error={new Error('The network failed, or the gateway has a new version. Reload the page.')}
        onRetry={() => location.reload()}
      />
    );
  return <Loading what="the page" />;
}
