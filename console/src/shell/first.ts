import { useState } from 'preact/hooks';

let pages = 0;

/** True for the first page after the console was loaded. Its title must not take the focus. */
export function useIsFirst(): boolean {
  const [isFirst] = useState(() => pages++ === 0);
  return isFirst;
}
