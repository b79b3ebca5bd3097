import { Ago } from '../../ui/fresh.js';
import { Badge, Card } from '../../ui/parts.js';
import type { DeviceData } from './device.js';
import { StateBadge } from './state.js';

/** What a device is: its address, its firmware, its sensors and its owner. */
export function About({ device }: { readonly device: DeviceData }) {
  const { capabilities, ownerKeyId } = device;
  return (
    <Card title="About">
      <dl class="pairs">
        <dt>State</dt>
        <dd>
          <StateBadge lastSeenAt={device.lastSeenAt} />
        </dd>
        <dt>Last seen</dt>
        <dd>
          <Ago at={device.lastSeenAt} />
        </dd>
        <dt>Address</dt>
        <dd>
          <code>{device.hardwareId}</code>
        </dd>
        <dt>Firmware</dt>
        <dd>
          <code>{device.firmwareVersion}</code>
        </dd>
        <dt>Sensors</dt>
        <dd>{capabilities.sensors.join(', ') || 'none'}</dd>
        <dt>Features</dt>
        <dd>
          {capabilities.features.length === 0 && 'none'}
          {capabilities.features.map(({ name, enabled }) => (
            <Badge key={name} tone={enabled ? 'accent' : 'plain'}>
              {name} {enabled ? 'on' : 'off'}
            </Badge>
          ))}
        </dd>
        <dt>Owner key</dt>
        <dd>{ownerKeyId ? <code>{ownerKeyId}</code> : 'none'}</dd>
        <dt>Boot</dt>
        <dd>
          <code>{device.lastBootId}</code>
        </dd>
        <dt>Registered</dt>
        <dd>
          <Ago at={device.firstRegisteredAt} />
        </dd>
      </dl>
    </Card>
  );
}
