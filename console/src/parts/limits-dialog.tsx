import { useRef, useState } from 'preact/hooks';
import { refreshAll, send } from '../data/client.js';
import { type ConfigFragment, SetLimitsDocument } from '../gql/graphql.js';
import { type DraftKind, draftOf, inputOf, type LimitDraft, newDraft } from '../lib/limits.js';
import { useOrg } from '../shell/context.js';
import { toast } from '../shell/toasts.js';
import { FormDialog } from '../ui/dialog.js';
import { Check, Field, SelectField } from '../ui/field.js';
import { Icon } from '../ui/icon.js';

export type Level = ConfigFragment['level'];

/** The place of limits, and the limits it has. Without a config the level must not have any yet. */
export interface LevelTarget {
  readonly level: Level;
  readonly resource?: string;
  readonly entityId?: string;
  readonly config?: ConfigFragment;
  /** The level and its names cannot be changed. */
  readonly isFixed?: boolean;
}

const levels: readonly (readonly [Level, string])[] = [
  ['RESOURCE', 'Resource: all entities, one resource'],
  ['SYSTEM', 'System: all entities and resources'],
  ['ENTITY', 'Entity: one entity, one resource'],
  ['ENTITY_DEFAULT', 'Entity default: one entity, all resources'],
];

const hasResource = (level: Level) => level === 'RESOURCE' || level === 'ENTITY';
const hasEntity = (level: Level) => level === 'ENTITY' || level === 'ENTITY_DEFAULT';

interface LimitsDialogProps {
  readonly target: LevelTarget;
  readonly onClose: () => void;
}

/** Sets all limits of one level, only if nobody else has changed them meanwhile. */
export function LimitsDialog({ target, onClose }: LimitsDialogProps) {
  const { orgId } = useOrg();
  const { config, isFixed = false } = target;
  const [level, setLevel] = useState(target.level);
  const [resource, setResource] = useState(target.resource ?? '');
  const [entityId, setEntityId] = useState(target.entityId ?? '');
  const [onUnavailable, setOnUnavailable] = useState(config?.onUnavailable ?? 'BLOCK');
  const [drafts, setDrafts] = useState<readonly LimitDraft[]>(() => config?.limits.map(draftOf) ?? [newDraft(0)]);
  const save = async () => {
    const input = {
      orgId,
      level,
      ...(hasResource(level) ? { resource: resource.trim() } : {}),
      ...(hasEntity(level) ? { entityId: entityId.trim() } : {}),
      ...(level === 'SYSTEM' ? { onUnavailable } : {}),
      limits: drafts.map(inputOf),
      expectedVersion: config?.version ?? 0,
    };
    await send(SetLimitsDocument, { input });
    toast('The limits are set. They take effect on all gateways within 2 s.');
    void refreshAll();
  };
  return (
    <FormDialog
      title={config ? 'Change limits' : 'Set limits'}
      submit="Set limits"
      wide
      onClose={onClose}
      onSubmit={save}
    >
      {!isFixed && <SelectField label="Level" value={level} options={levels} onChange={setLevel} />}
      <div class="form-row">
        {hasEntity(level) && (
          <Field label="Entity" value={entityId} onInput={setEntityId} required disabled={isFixed} maxLength={256} />
        )}
        {hasResource(level) && (
          <Field label="Resource" value={resource} onInput={setResource} required disabled={isFixed} maxLength={64} />
        )}
        {level === 'SYSTEM' && (
          <SelectField
            label="While the database is unavailable"
            value={onUnavailable}
            options={[
              ['BLOCK', 'Block: acquires fail'],
              ['ALLOW', 'Allow: acquires are granted and take nothing'],
            ]}
            onChange={setOnUnavailable}
          />
        )}
      </div>
      <LimitList drafts={drafts} min={level === 'SYSTEM' ? 0 : 1} onChange={setDrafts} />
    </FormDialog>
  );
}

/** A level has at most this many limits. */
const maxLimits = 10;

interface LimitListProps {
  readonly drafts: readonly LimitDraft[];
  readonly min: number;
  readonly onChange: (drafts: readonly LimitDraft[]) => void;
}

function LimitList({ drafts, min, onChange }: LimitListProps) {
  const lastId = useRef(100);
  return (
    <>
      {drafts.map((draft) => (
        <LimitFields
          key={draft.id}
          draft={draft}
          onChange={(next) => onChange(drafts.map((each) => (each.id === draft.id ? next : each)))}
          onRemove={drafts.length > min ? () => onChange(drafts.filter((each) => each.id !== draft.id)) : undefined}
        />
      ))}
      {drafts.length < maxLimits && (
        <div>
          <button type="button" class="button small" onClick={() => onChange([...drafts, newDraft(++lastId.current)])}>
            <Icon name="plus" />
            Add a limit
          </button>
        </div>
      )}
    </>
  );
}

const kinds: readonly (readonly [DraftKind, string])[] = [
  ['RATE', 'Rate, refills continuously'],
  ['DAY', 'Per calendar day'],
  ['WEEK', 'Per calendar week'],
  ['MONTH', 'Per calendar month'],
  ['CONCURRENCY', 'At the same time'],
];

interface LimitFieldsProps {
  readonly draft: LimitDraft;
  readonly onChange: (draft: LimitDraft) => void;
  readonly onRemove: (() => void) | undefined;
}

function LimitFields({ draft, onChange, onRemove }: LimitFieldsProps) {
  const set = (changes: Partial<LimitDraft>) => onChange({ ...draft, ...changes });
  const number = (label: string, key: 'capacity' | 'burst' | 'refillAmount' | 'refillPeriodSecs', placeholder = '') => (
    <Field
      label={label}
      value={draft[key]}
      onInput={(value) => set({ [key]: value })}
      inputMode="numeric"
      placeholder={placeholder}
      required={placeholder === ''}
    />
  );
  return (
    <fieldset class="limit-fields">
      <legend class="hidden-text">Limit {draft.name}</legend>
      <div class="form-row">
        <Field
          label="Name"
          value={draft.name}
          onInput={(name) => set({ name })}
          required
          maxLength={64}
          placeholder="rpm"
        />
        <SelectField label="Kind" value={draft.kind} options={kinds} onChange={(kind) => set({ kind })} />
        {number('Capacity', 'capacity')}
        {draft.kind === 'RATE' && number('Period in seconds', 'refillPeriodSecs')}
        {draft.kind === 'RATE' && number('Burst', 'burst', 'as capacity')}
        {draft.kind === 'RATE' && number('Refill per period', 'refillAmount', 'as capacity')}
      </div>
      <div class="row">
        <Check
          label="Enforce it. Otherwise it only counts what it would have refused."
          checked={draft.enforce}
          onChange={(enforce) => set({ enforce })}
        />
        {onRemove && (
          <button type="button" class="button plain small" onClick={onRemove}>
            <Icon name="trash" />
            Remove
          </button>
        )}
      </div>
    </fieldset>
  );
}
