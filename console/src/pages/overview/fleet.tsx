import { type DeviceState, deviceState, sharesOf } from '../../lib/fleet.js';
import { count, plural } from '../../lib/numbers.js';
import { serverNow } from '../../lib/time.js';
import { commands } from '../../ui/commands.js';
import { Card } from '../../ui/parts.js';
import { Empty } from '../../ui/states.js';

interface FleetProps {
  readonly total: number;
  /** The devices that were seen last, at most 100. */
  readonly devices: readonly { readonly lastSeenAt: string; readonly firmwareVersion: string }[];
}

const states: readonly (readonly [DeviceState, string, string])[] = [
  ['online', 'ok', 'seen within an hour'],
  ['stale', 'warn', 'seen within a day'],
  ['missing', 'bad', 'not seen for a day'],
];

/** How many devices are online, and what firmware they run. */
export function FleetHealth({ total, devices }: FleetProps) {
  if (total === 0)
    return (
      <Card title="Fleet" flush>
        <Empty title="No devices yet" command={commands.registerDevice()}>
          A device registers at each boot. Create a device key, then register the first one:
        </Empty>
      </Card>
    );
  const now = serverNow();
  const counts = new Map(
    sharesOf(devices.map((each) => deviceState(each.lastSeenAt, now))).map((s) => [s.name, s.count]),
  );
  const firmware = sharesOf(devices.map(({ firmwareVersion }) => firmwareVersion));
  return (
    <Card title="Fleet" foot={total > devices.length && `States are those of the ${devices.length} devices seen last.`}>
      <div class="stack-s">
        <p>{plural(total, 'device')}</p>
        <div class="split-bar" aria-hidden="true">
          {states.map(([state, tone]) => (
            <span
              key={state}
              class={`fill-${tone}`}
              style={{ flexGrow: counts.get(state) ?? 0 }}
              hidden={!counts.get(state)}
            />
          ))}
        </div>
        <dl class="pairs">
          {states.map(([state, tone, meaning]) => (
            <div key={state} class="pair">
              <dt>
                <span class={`swatch fill-${tone}`} /> {state}, {meaning}
              </dt>
              <dd class="number">{count(counts.get(state) ?? 0)}</dd>
            </div>
          ))}
          {firmware.slice(0, 3).map(({ name, count: devicesOf }) => (
            <div key={name} class="pair">
              <dt>
                firmware <code>{name}</code>
              </dt>
              <dd class="number">{count(devicesOf)}</dd>
            </div>
          ))}
        </dl>
      </div>
    </Card>
  );
}
