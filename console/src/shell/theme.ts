import { Store } from '../lib/store.js';

export type Theme = 'system' | 'light' | 'dark';

const key = 'tollgate.theme';
const isTheme = (text: string | null): text is Theme => text === 'light' || text === 'dark' || text === 'system';

function saved(): Theme {
  try {
    const text = localStorage.getItem(key);
    return isTheme(text) ? text : 'system';
  } catch {
    // Storage may be switched off in this browser.
    return 'system';
  }
}

export const theme = new Store<Theme>(saved());

export function applyTheme(next: Theme): void {
  document.documentElement.dataset.theme = next;
  try {
    localStorage.setItem(key, next);
  } catch {
    // The choice then lasts as long as the page.
  }
  theme.set(next);
}
