import { useState } from 'preact/hooks';
import { refreshAll, send, useQuery } from '../../data/client.js';
import {
  AssignDeviceDocument,
  DeleteDeviceDocument,
  KeysDocument,
  type KeysQuery,
  RenameDeviceDocument,
} from '../../gql/graphql.js';
import { Confirm } from '../../parts/confirm.js';
import { useOrg } from '../../shell/context.js';
import { toast } from '../../shell/toasts.js';
import { FormDialog } from '../../ui/dialog.js';
import { Field, SelectField } from '../../ui/field.js';
import { Loaded } from '../../ui/states.js';

export interface DeviceName {
  readonly hardwareId: string;
  readonly friendlyName: string | null;
}

interface DialogProps {
  readonly device: DeviceName;
  readonly onClose: () => void;
}

export function RenameDialog({ device, onClose }: DialogProps) {
  const { orgId } = useOrg();
  const [name, setName] = useState(device.friendlyName ?? '');
  return (
    <FormDialog
      title={`Rename ${device.hardwareId}`}
      submit="Rename"
      onClose={onClose}
      onSubmit={async () => {
        await send(RenameDeviceDocument, { orgId, hardwareId: device.hardwareId, friendlyName: name || null });
        toast('Renamed');
        void refreshAll();
      }}
    >
      <Field
        label="Name"
        value={name}
        onInput={setName}
        maxLength={64}
        autoFocus
        hint="1–64 characters. Empty removes the name."
      />
    </FormDialog>
  );
}

type ApiKey = NonNullable<KeysQuery['org']>['apiKeys']['nodes'][number];

/** The keys that a device can be given to: active, and bound to no other device. */
const keysFor = (keys: readonly ApiKey[], hardwareId: string): readonly ApiKey[] =>
  keys.filter((key) => key.active && (key.hardwareId === null || key.hardwareId === hardwareId));

/** Makes another key the owner of a device, for a device that moves to another customer or whose key was lost. */
export function AssignDialog({ device, onClose }: DialogProps & { readonly device: { ownerKeyId: string | null } }) {
  const { orgId } = useOrg();
  const { hardwareId, ownerKeyId, friendlyName } = device;
  const [chosen, setChosen] = useState<string>();
  const query = useQuery(KeysDocument, { orgId });
  const keys = keysFor(query.data?.org?.apiKeys.nodes ?? [], hardwareId);
  // The owner is the first key of a line. A key that replaced it has another id.
  const keyId = chosen ?? keys.find(({ ownerId }) => ownerId === ownerKeyId)?.keyId ?? '';
  return (
    <FormDialog
      title={`Assign ${friendlyName ?? hardwareId}`}
      submit="Assign"
      onClose={onClose}
      onSubmit={async () => {
        await send(AssignDeviceDocument, { orgId, hardwareId, keyId: keyId || null });
        toast('Assigned. It takes effect on all gateways within 2 s.');
        void refreshAll();
      }}
    >
      <Loaded query={query} what="the device keys">
        {() => (
          <SelectField
            label="Owner key"
            value={keyId}
            onChange={setChosen}
            options={[
              ['', 'None: the next key that registers it'],
              ...keys.map(
                (key) => [key.keyId, `${key.description || 'no description'} (${key.keyId.slice(0, 8)}…)`] as const,
              ),
            ]}
            hint="Only this key and those that replace it may register the device and send its readings."
          />
        )}
      </Loaded>
    </FormDialog>
  );
}

export function DeleteDialog({ device, onClose, onDeleted }: DialogProps & { readonly onDeleted?: () => void }) {
  const { orgId } = useOrg();
  const { hardwareId, friendlyName } = device;
  return (
    <Confirm
      title={`Delete ${friendlyName ?? hardwareId}?`}
      submit="Delete"
      done={`${friendlyName ?? hardwareId} was deleted`}
      onConfirm={async () => {
        await send(DeleteDeviceDocument, { orgId, hardwareId });
        onDeleted?.();
      }}
      onClose={onClose}
    >
      Its readings can no longer be read. It may register again after 10 s and then starts without readings.
    </Confirm>
  );
}
