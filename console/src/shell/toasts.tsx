import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import { Store, useStore } from '../lib/store.js';
import { Icon, type IconName } from '../ui/icon.js';

interface Toast {
  readonly id: number;
  readonly icon: IconName;
  readonly content: ComponentChildren;
}

const shownMs = 8000;
const maxToasts = 3;
const toasts = new Store<readonly Toast[]>([]);
let lastId = 0;

/** Shows a short message for some seconds. Screen readers read it. */
export function toast(content: ComponentChildren, icon: IconName = 'check'): void {
  lastId += 1;
  toasts.set([...toasts.get(), { id: lastId, icon, content }].slice(-maxToasts));
}

/** Removes all messages, because they are about what another session has read. */
export const clearToasts = (): void => toasts.set([]);

const remove = (id: number) => toasts.set(toasts.get().filter((each) => each.id !== id));

export const Toasts = () => (
  <div class="toasts" role="status" aria-live="polite">
    {useStore(toasts).map((each) => (
      <ToastItem key={each.id} {...each} />
    ))}
  </div>
);

function ToastItem({ id, icon, content }: Toast) {
  useEffect(() => {
    const timer = setTimeout(() => remove(id), shownMs);
    return () => clearTimeout(timer);
  }, [id]);
  return (
    <div class="toast">
      <Icon name={icon} />
      <div class="grow">{content}</div>
      <button type="button" class="button plain small" aria-label="Dismiss" onClick={() => remove(id)}>
        <Icon name="close" />
      </button>
    </div>
  );
}
