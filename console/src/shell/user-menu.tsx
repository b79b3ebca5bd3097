import { explain } from '../data/problem.js';
import { signOut } from '../data/session.js';
import { useStore } from '../lib/store.js';
import { useAction } from '../ui/dialog.js';
import { Icon, type IconName } from '../ui/icon.js';
import { useSession } from './context.js';
import { applyTheme, type Theme, theme } from './theme.js';

const themes: readonly (readonly [Theme, IconName, string])[] = [
  ['system', 'monitor', 'Theme of the system'],
  ['light', 'sun', 'Light'],
  ['dark', 'moon', 'Dark'],
];

/** Who is signed in, the theme, and the way out. */
export function UserMenu() {
  const session = useSession();
  const current = useStore(theme);
  const { run, isRunning, error } = useAction(signOut);
  const name = session.kind === 'PLATFORM_ADMIN' ? session.actor : (session.app?.name ?? session.org?.name ?? '');
  return (
    <>
      <button type="button" class="user-button" popovertarget="user-menu">
        <Icon name="user" />
        <span class="name">{session.role === 'READ' ? `${name} (read-only)` : name}</span>
        <Icon name="switch" />
      </button>
      <div id="user-menu" class="popover popover-user" popover="auto">
        <p class="menu-item small muted">
          <span class="grow">
            Signed in as <code>{session.actor}</code>
          </span>
        </p>
        <div class="menu-line" />
        {themes.map(([value, icon, label]) => (
          <button
            key={value}
            type="button"
            class="menu-item"
            aria-current={current === value ? 'true' : undefined}
            onClick={() => applyTheme(value)}
          >
            <Icon name={icon} />
            {label}
          </button>
        ))}
        <div class="menu-line" />
        <button type="button" class="menu-item" aria-disabled={isRunning} onClick={() => void run()}>
          <Icon name="out" />
          Sign out
        </button>
        {error !== undefined && (
          <p class="problem" role="alert">
            {explain(error)}
          </p>
        )}
      </div>
    </>
  );
}
