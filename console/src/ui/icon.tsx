/** Line icons on a grid of 24 units, one path each. */
const paths = {
  alerts: 'M6 9.5a6 6 0 0 1 12 0c0 4.5 2 5.5 2 7.5H4c0-2 2-3 2-7.5M10 20.5a2.2 2.2 0 0 0 4 0',
  apps: 'M3.5 5h17v14h-17zM3.5 9.5h17M8 5v4.5',
  audit: 'M6 3h12v18H6zM9.5 8h5M9.5 12h5M9.5 16h3',
  budgets: 'M4 6.5h16v13H4zM4 10.5h16M15.5 15h1.5M7 6.5V4.5h10v2',
  calls: 'M4 6h.01M4 12h.01M4 18h.01M8.5 6H20M8.5 12H20M8.5 18H20',
  check: 'M5 12.5l4.5 4.5L19 7.5',
  close: 'M6 6l12 12M18 6 6 18',
  copy: 'M9 9h11v11H9zM5 15H4V4h11v1',
  dash: 'M6 12h12',
  devices:
    'M6.5 6.5h11v11h-11zM10.5 10.5h3v3h-3zM9.5 3v3.5M14.5 3v3.5M9.5 17.5V21M14.5 17.5V21M3 9.5h3.5M3 14.5h3.5M17.5 9.5H21M17.5 14.5H21',
  down: 'M7 10l5 5 5-5',
  download: 'M12 4v11M7 10.5l5 5 5-5M4 20h16',
  edit: 'M4 20l1-4.5L16.5 4 20 7.5 8.5 19zM14 6.5l3.5 3.5',
  info: 'M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18M12 11v5.5M12 7.5h.01',
  keys: 'M20 9.5a4.5 4.5 0 1 1-9 0 4.5 4.5 0 0 1 9 0M12.2 12.8 4.5 20.5M7.5 17.5l2.5 2.5M15.5 9.5h.01',
  limits: 'M4.2 18a9 9 0 1 1 15.6 0M12 14l4-4.5',
  models: 'M4 4h8l8.5 8.5-8 8L4 12zM8.2 8.2h.01',
  monitor: 'M3 5h18v11H3zM8.5 20h7M12 16v4',
  moon: 'M20 14.5A8.5 8.5 0 1 1 9.5 4a6.8 6.8 0 0 0 10.5 10.5',
  orgs: 'M4.5 20.5v-15L12 3.5v17M12 9.5h7.5v11M3 20.5h18M8.2 8.5h.01M8.2 12.5h.01M8.2 16.5h.01M15.8 13.5h.01M15.8 17h.01',
  out: 'M15.5 16.5 20 12l-4.5-4.5M20 12H9.5M10 4H4.5v16H10',
  overview: 'M4 4h6.5v8H4zM13.5 4H20v5h-6.5zM13.5 12H20v8h-6.5zM4 15h6.5v5H4z',
  plus: 'M12 5v14M5 12h14',
  refresh: 'M20 11a8 8 0 0 0-14.5-3.5L4 9M4 4.5V9h4.5M4 13a8 8 0 0 0 14.5 3.5L20 15M20 19.5V15h-4.5',
  right: 'M9.5 6.5 15 12l-5.5 5.5',
  search: 'M11 4a7 7 0 1 0 0 14 7 7 0 0 0 0-14M20 20l-4-4',
  settings: 'M4 7h8M18 7h2M4 17h2M12 17h8M18 7a3 3 0 1 1-6 0 3 3 0 0 1 6 0M12 17a3 3 0 1 1-6 0 3 3 0 0 1 6 0',
  spend: 'M4 4v16h16M8.5 16v-3.5M13 16V8M17.5 16v-6',
  spinner: 'M20.5 12A8.5 8.5 0 1 1 14 3.7',
  sun: 'M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8M12 2.5v2M12 19.5v2M2.5 12h2M19.5 12h2M5.3 5.3l1.4 1.4M17.3 17.3l1.4 1.4M5.3 18.7l1.4-1.4M17.3 6.7l1.4-1.4',
  switch: 'M8 15.5l4 4 4-4M8 8.5l4-4 4 4',
  table: 'M3.5 4.5h17v15h-17zM3.5 9.5h17M9.5 4.5v15',
  trash: 'M4.5 6.5h15M9 6V4h6v2M6.5 6.5l1 14h9l1-14M10 10.5v6M14 10.5v6',
  up: 'M7 14l5-5 5 5',
  user: 'M12 4a4 4 0 1 0 0 8 4 4 0 0 0 0-8M4.5 20.5a7.5 7.5 0 0 1 15 0',
  warning: 'M12 4 2.5 20h19zM12 10v4.5M12 17.2h.01',
} as const;

export type IconName = keyof typeof paths;

/** An icon beside a text that says the same. Screen readers skip it. */
export function Icon({ name, class: extra = '' }: { readonly name: IconName; readonly class?: string }) {
  return (
    <svg class={`icon ${extra}`} viewBox="0 0 24 24" aria-hidden="true" focusable="false">
      <path d={paths[name]} />
    </svg>
  );
}
