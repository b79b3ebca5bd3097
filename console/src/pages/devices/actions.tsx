import { useState } from 'preact/hooks';
import { refreshAll, send } from '../../data/client.js';
import { DeleteDeviceDocument, RenameDeviceDocument } from '../../gql/graphql.js';
import { Confirm } from '../../parts/confirm.js';
import { useOrg } from '../../shell/context.js';
import { toast } from '../../shell/toasts.js';
import { FormDialog } from '../../ui/dialog.js';
import { Field } from '../../ui/field.js';

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
