import { useState } from 'preact/hooks';
import { refreshAll, send } from '../../data/client.js';
import { CreateApiKeyDocument } from '../../gql/graphql.js';
import { SecretText } from '../../parts/handover.js';
import { useOrg } from '../../shell/context.js';
import { Dialog, FormDialog } from '../../ui/dialog.js';
import { Field } from '../../ui/field.js';

interface CreateKeyProps {
  /** The key that the new one replaces; both serve the same devices until one is revoked. */
  readonly replaces?: { readonly keyId: string; readonly description: string | null };
  readonly onClose: () => void;
}

/** Creates a device key and shows its secret once. */
export function CreateKeyDialog({ replaces, onClose }: CreateKeyProps) {
  const { orgId } = useOrg();
  const [description, setDescription] = useState(replaces?.description ?? '');
  const [hardwareId, setHardwareId] = useState('');
  const [secret, setSecret] = useState<string>();
  if (secret !== undefined)
    return (
      <Dialog title="The device key" onClose={onClose}>
        <div class="body">
          <p>Store the key now. It is shown only here.</p>
          <SecretText label="Key, for the header X-API-Key" text={secret} />
        </div>
        <footer>
          <button type="button" class="button primary" onClick={onClose}>
            Done
          </button>
        </footer>
      </Dialog>
    );
  return (
    <FormDialog
      title={replaces ? 'Replace device key' : 'Create device key'}
      submit="Create"
      onClose={onClose}
      keepOpen
      onSubmit={async () => {
        const input = {
          orgId,
          ...(description ? { description } : {}),
          ...(hardwareId ? { hardwareId } : {}),
          ...(replaces ? { replaces: replaces.keyId } : {}),
        };
        const { createApiKey } = await send(CreateApiKeyDocument, { input });
        setSecret(createApiKey?.secret ?? '');
        void refreshAll();
      }}
    >
      {replaces && <p>Both keys serve the same devices. Revoke the old one when every device has the new one.</p>}
      <Field
        label="Description"
        value={description}
        onInput={setDescription}
        maxLength={256}
        autoFocus
        hint="A note for people"
      />
      {!replaces && (
        <Field
          label="Only for the device with this address"
          value={hardwareId}
          onInput={setHardwareId}
          placeholder="AA:BB:CC:DD:EE:FF"
          hint="Optional. Empty: the key serves every device that it registers."
        />
      )}
    </FormDialog>
  );
}
