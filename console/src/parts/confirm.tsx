import type { ComponentChildren } from 'preact';
import { refreshAll } from '../data/client.js';
import { toast } from '../shell/toasts.js';
import { FormDialog } from '../ui/dialog.js';

interface ConfirmProps {
  readonly title: string;
  readonly submit: string;
  /** Says that it was done. */
  readonly done: string;
  readonly onConfirm: () => Promise<unknown>;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}

/** Asks before a change that is hard to undo. */
export const Confirm = ({ title, submit, done, onConfirm, onClose, children }: ConfirmProps) => (
  <FormDialog
    title={title}
    submit={submit}
    danger
    onClose={onClose}
    onSubmit={async () => {
      await onConfirm();
      toast(done);
      void refreshAll();
    }}
  >
    <p>{children}</p>
  </FormDialog>
);
