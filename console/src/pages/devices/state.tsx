import { type DeviceState, deviceState } from '../../lib/fleet.js';
import { serverNow } from '../../lib/time.js';
import { useTick } from '../../ui/fresh.js';
import type { IconName } from '../../ui/icon.js';
import { Badge, type Tone } from '../../ui/parts.js';

const looks: Readonly<Record<DeviceState, readonly [Tone, IconName, string]>> = {
  online: ['ok', 'check', 'Online'],
  stale: ['warn', 'warning', 'Stale'],
  missing: ['bad', 'close', 'Missing'],
};

export function StateBadge({ lastSeenAt }: { readonly lastSeenAt: string }) {
  useTick(30_000);
  const [tone, icon, text] = looks[deviceState(lastSeenAt, serverNow())];
  return (
    <Badge tone={tone} icon={icon}>
      {text}
    </Badge>
  );
}

interface HealthProps {
  readonly status: {
    readonly bme280: 'OK' | 'ERROR' | null;
    readonly ds18b20: 'OK' | 'ERROR' | null;
    readonly soilMoisture: 'OK' | 'ERROR' | null;
  };
}

const sensorNames = { bme280: 'BME280', ds18b20: 'DS18B20', soilMoisture: 'soil moisture' } as const;

/** The sensors that a device reports as failed, or that all work. */
export function SensorHealth({ status }: HealthProps) {
  const names = Object.keys(sensorNames) as (keyof typeof sensorNames)[];
  const failed = names.filter((name) => status[name] === 'ERROR');
  if (names.every((name) => status[name] === null)) return <span class="muted">not reported</span>;
  if (failed.length === 0) return <Badge tone="ok">all work</Badge>;
  return (
    <Badge tone="bad" icon="warning">
      {failed.map((name) => sensorNames[name]).join(', ')} failed
    </Badge>
  );
}
