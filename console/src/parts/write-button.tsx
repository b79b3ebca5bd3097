import type { ComponentChildren } from 'preact';
import { useWriteBlock } from '../shell/context.js';
import { Icon, type IconName } from '../ui/icon.js';

interface WriteButtonProps {
  readonly onClick: () => void;
  readonly icon?: IconName;
  readonly tone?: string;
  /** For an icon without text. */
  readonly label?: string;
  readonly children?: ComponentChildren;
}

/** A button for a change. A read-only session sees it disabled, with the reason. */
export function WriteButton({ onClick, icon, tone = '', label, children }: WriteButtonProps) {
  const block = useWriteBlock();
  return (
    <button
      type="button"
      class={`button ${tone}`}
      aria-label={label}
      aria-disabled={block !== null}
      title={block ?? label}
      onClick={block === null ? onClick : undefined}
    >
      {icon && <Icon name={icon} />}
      {children}
    </button>
  );
}
