import type { ComponentChildren } from 'preact';
import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { explain, type Issue, Problem } from '../data/problem.js';
import { Icon } from './icon.js';

interface DialogProps {
  readonly title: string;
  readonly onClose: () => void;
  readonly wide?: boolean;
  readonly children: ComponentChildren;
}

/** A modal dialog. Escape closes it, and the focus returns to the button that opened it. */
export function Dialog({ title, onClose, wide = false, children }: DialogProps) {
  const ref = useRef<HTMLDialogElement>(null);
  const id = useId();
  // Before the next frame, so that no key goes to the page behind the dialog.
  useLayoutEffect(() => {
    const opener = document.activeElement;
    ref.current?.showModal();
    return () => {
      if (opener instanceof HTMLElement) opener.focus();
    };
  }, []);
  return (
    <dialog ref={ref} class={`dialog ${wide ? 'wide' : ''}`} aria-labelledby={id} onClose={onClose}>
      <header>
        <h2 id={id}>{title}</h2>
        <button type="button" class="button plain" aria-label="Close" onClick={onClose}>
          <Icon name="close" />
        </button>
      </header>
      {children}
    </dialog>
  );
}

/** An action that may be running or have failed. */
export interface Action<A extends readonly unknown[]> {
  readonly run: (...args: A) => Promise<void>;
  readonly isRunning: boolean;
  readonly error: unknown;
}

/** Runs an action once at a time and keeps its error. */
export function useAction<A extends readonly unknown[]>(act: (...args: A) => Promise<unknown>): Action<A> {
  const [state, setState] = useState<{ isRunning: boolean; error: unknown }>({ isRunning: false, error: undefined });
  const running = useRef(false);
  const run = async (...args: A) => {
    if (running.current) return;
    running.current = true;
    setState({ isRunning: true, error: undefined });
    try {
      await act(...args);
      setState({ isRunning: false, error: undefined });
    } catch (error) {
      setState({ isRunning: false, error });
    } finally {
      running.current = false;
    }
  };
  return { run, ...state };
}

interface FormDialogProps {
  readonly title: string;
  readonly submit: string;
  readonly danger?: boolean;
  readonly wide?: boolean;
  readonly onClose: () => void;
  /** Makes the change. The dialog closes when it has succeeded and shows the error otherwise. */
  readonly onSubmit: () => Promise<unknown>;
  /** Stays open after success, to show a result. */
  readonly keepOpen?: boolean;
  readonly children: ComponentChildren | ((issues: readonly Issue[]) => ComponentChildren);
}

/** A dialog with a form. Enter submits it. */
export function FormDialog(props: FormDialogProps) {
  const { title, submit, danger = false, wide = false, onClose, onSubmit, keepOpen = false, children } = props;
  const { run, isRunning, error } = useAction(async () => {
    await onSubmit();
    if (!keepOpen) onClose();
  });
  const issues = error instanceof Problem ? (error.details.issues ?? []) : [];
  return (
    <Dialog title={title} onClose={onClose} wide={wide}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void run();
        }}
      >
        <div class="body">{typeof children === 'function' ? children(issues) : children}</div>
        <footer>
          {error !== undefined && (
            <p class="problem" role="alert">
              {explain(error)}
            </p>
          )}
          <button type="button" class="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class={`button primary ${danger ? 'danger' : ''}`} aria-disabled={isRunning}>
            {isRunning ? 'Working…' : submit}
          </button>
        </footer>
      </form>
    </Dialog>
  );
}
