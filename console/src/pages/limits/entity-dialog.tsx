import { useState } from 'preact/hooks';
import { refreshAll, send } from '../../data/client.js';
import { UpdateEntityDocument } from '../../gql/graphql.js';
import { PairsEditor } from '../../parts/pairs-editor.js';
import { useOrg } from '../../shell/context.js';
import { toast } from '../../shell/toasts.js';
import { FormDialog } from '../../ui/dialog.js';
import { Check, Field } from '../../ui/field.js';
import type { EntityData } from './entity.js';

/** Changes the name, the parent, the cascade and the metadata of an entity. */
export function EntityDialog({ entity, onClose }: { readonly entity: EntityData; readonly onClose: () => void }) {
  const { orgId } = useOrg();
  const [name, setName] = useState(entity.name ?? '');
  const [parentId, setParentId] = useState(entity.parent?.entityId ?? '');
  const [cascade, setCascade] = useState(entity.cascade);
  const [metadata, setMetadata] = useState(entity.metadata);
  return (
    <FormDialog
      title={`Change ${entity.entityId}`}
      submit="Save"
      onClose={onClose}
      onSubmit={async () => {
        const { entityId } = entity;
        const names = { name: name || null, parentId: parentId || null };
        await send(UpdateEntityDocument, { input: { orgId, entityId, ...names, cascade, metadata: [...metadata] } });
        toast('Saved. It takes effect on all gateways within 2 s.');
        void refreshAll();
      }}
    >
      <Field label="Name" value={name} onInput={setName} autoFocus hint="Empty removes it." />
      <Field
        label="Parent"
        value={parentId}
        onInput={setParentId}
        hint="The id of an entity that exists. Empty removes it."
      />
      <Check label="Cascade: each acquire also takes from the parent" checked={cascade} onChange={setCascade} />
      <PairsEditor legend="Metadata" pairs={metadata} onChange={setMetadata} />
    </FormDialog>
  );
}
