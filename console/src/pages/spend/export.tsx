import { useState } from 'preact/hooks';
import { jsonOf, post } from '../../data/http.js';
import { problemOf } from '../../data/problem.js';
import { daysIn } from '../../lib/days.js';
import { download } from '../../lib/download.js';
import { type DayRange, rangeText } from '../../lib/range.js';
import { useOrg } from '../../shell/context.js';
import { toast } from '../../shell/toasts.js';
import { FormDialog } from '../../ui/dialog.js';
import { SelectField } from '../../ui/field.js';

type Rows = 'label' | 'app' | 'hour' | 'cost';
type Format = 'csv' | 'jsonl';

/** The gateway exports hours and single calls of at most this many days. */
const maxFineDays = 31;

/** Saves the spend of a range as a file. The rows of a day add up to the day. */
export function ExportDialog({ range, onClose }: { readonly range: DayRange; readonly onClose: () => void }) {
  const { orgId, quotaScope, attributeApps, ledger } = useOrg();
  const [by, setBy] = useState<Rows>('label');
  const [format, setFormat] = useState<Format>('csv');
  const isShort = daysIn(range.from, range.to) <= maxFineDays;
  const options: (readonly [Rows, string])[] = [
    ['label', 'one row per day and label'],
    ...(quotaScope === 'APP' || attributeApps ? ([['app', 'one row per day, app and label']] as const) : []),
    ...(isShort ? ([['hour', 'one row per hour and label']] as const) : []),
    ...(isShort && ledger ? ([['cost', 'one row per call']] as const) : []),
  ];
  const save = async () => {
    const accept = format === 'csv' ? 'text/csv' : 'application/jsonl';
    const response = await post(
      '/export/spend',
      { orgId, by, format, ...range },
      { accept: `${accept}, application/json` },
    );
    if (!response.ok) throw problemOf(await jsonOf(response), response.status);
    // The connection breaks if the file is not complete, and this fails.
    const data = await response.blob().catch(() => {
      throw new Error('The export broke off before its end. Nothing was saved. Try again.');
    });
    download(`tollgate-spend-by-${by}-${range.from}-${range.to}.${format}`, data);
    toast('The file is saved');
  };
  return (
    <FormDialog title={`Export ${rangeText(range)}`} submit="Export" onClose={onClose} onSubmit={save}>
      <SelectField
        label="Rows"
        value={by}
        options={options}
        onChange={setBy}
        hint={ledger ? '' : 'Single calls need the ledger, a setting of the org.'}
      />
      <SelectField<Format>
        label="Format"
        value={format}
        options={[
          ['csv', 'CSV, for spreadsheets'],
          ['jsonl', 'JSON lines'],
        ]}
        onChange={setFormat}
      />
      <p class="hint">Costs are whole micro-dollars. The rows of a day add up to the day.</p>
    </FormDialog>
  );
}
