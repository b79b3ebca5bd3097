import type { AlertLineFragment } from '../../gql/graphql.js';
import { alertText } from '../../lib/alerts.js';
import { Ago } from '../../ui/fresh.js';
import { Icon, type IconName } from '../../ui/icon.js';

const icons: Readonly<Record<string, readonly [icon: IconName, tone: string]>> = {
  TIGHT_MODE: ['warning', 'warn'],
  QUOTA_EXCEEDED: ['close', 'bad'],
  FALLBACK_ACTIVATED: ['down', 'warn'],
  THRESHOLD: ['warning', 'warn'],
  PROJECTED: ['spend', 'warn'],
  RECOVERED: ['check', 'ok'],
};

export function AlertIcon({ kind }: { readonly kind: string }) {
  const [icon, tone] = icons[kind] ?? ['info', 'accent'];
  return (
    <span class={`badge ${tone}`}>
      <Icon name={icon} />
    </span>
  );
}

export const AlertList = ({ alerts }: { readonly alerts: readonly AlertLineFragment[] }) => (
  <ul class="list">
    {alerts.map((alert) => (
      <li key={alert.id}>
        <AlertIcon kind={alert.kind} />
        <span class="grow">{alertText(alert)}</span>
        <span class="muted nowrap">
          <Ago at={alert.raisedAt} />
        </span>
      </li>
    ))}
  </ul>
);
