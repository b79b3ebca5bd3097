import { useState } from 'preact/hooks';
import { refreshAll, send } from '../../data/client.js';
import { OverrideModelDocument } from '../../gql/graphql.js';
import { useOrg } from '../../shell/context.js';
import { toast } from '../../shell/toasts.js';
import { FormDialog } from '../../ui/dialog.js';
import { SelectField } from '../../ui/field.js';
import type { AppData } from './app.js';

/** Puts an app on one label for the rest of its day, or lets the quotas decide again. */
export function OverrideDialog({ app, onClose }: { readonly app: AppData; readonly onClose: () => void }) {
  const { orgId, quotaScope } = useOrg();
  const isOverridden = app.modelSelection.reason === 'MANUAL_OVERRIDE';
  const [label, setLabel] = useState(isOverridden ? '' : (app.modelOrdering[0] ?? ''));
  return (
    <FormDialog
      title="Override the model"
      submit={label === '' ? 'Let the quotas decide' : `Use ${label} today`}
      onClose={onClose}
      onSubmit={async () => {
        const scope = quotaScope === 'APP' ? { appId: app.appId } : {};
        const { overrideModel } = await send(OverrideModelDocument, {
          input: { orgId, ...scope, label: label || null },
        });
        toast(`Selections now recommend ${overrideModel?.label ?? 'no label'}`);
        void refreshAll();
      }}
    >
      <SelectField
        label="Label"
        value={label}
        options={[
          ...app.modelOrdering.map((each) => [each, each] as const),
          ['', 'Let the quotas decide (clears an override and the fallback of the day)'],
        ]}
        onChange={setLabel}
        hint={
          quotaScope === 'APP'
            ? 'It lasts until the end of the day of the org, even if the quota of the label is used up.'
            : 'It applies to all apps of the org until the end of its day, even if the quota of the label is used up.'
        }
      />
    </FormDialog>
  );
}
