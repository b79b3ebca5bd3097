import { useState } from 'preact/hooks';
import { useSearchParams } from 'wouter-preact';
import { send, useQuery } from '../../data/client.js';
import { type ConfigFragment, DeleteLimitsDocument, LimitsDocument, type LimitsQuery } from '../../gql/graphql.js';
import { limitText } from '../../lib/limits.js';
import { Confirm } from '../../parts/confirm.js';
import { type LevelTarget, LimitsDialog } from '../../parts/limits-dialog.js';
import { WriteButton } from '../../parts/write-button.js';
import { useOrg } from '../../shell/context.js';
import { Page } from '../../shell/page.js';
import { commands } from '../../ui/commands.js';
import { Badge, Card } from '../../ui/parts.js';
import { Empty, Loaded } from '../../ui/states.js';
import { EntityFinder } from './finder.js';
import { ResourceDetail } from './resource.js';

type OrgLimits = NonNullable<LimitsQuery['org']>;

/** The limits of an org by level, and who uses them. */
export default function Limits() {
  const { orgId } = useOrg();
  const query = useQuery(LimitsDocument, { orgId });
  const [target, setTarget] = useState<LevelTarget>();
  const [deleted, setDeleted] = useState<ConfigFragment>();
  return (
    <Page
      title="Limits"
      about="The strongest level that has limits applies: entity, then entity default, resource, system."
      actions={
        <WriteButton icon="plus" tone="primary" onClick={() => setTarget({ level: 'RESOURCE' })}>
          Set limits
        </WriteButton>
      }
    >
      <Loaded query={query} what="the limits">
        {({ org }) => org && <Content data={org} onEdit={setTarget} onDelete={setDeleted} />}
      </Loaded>
      {target && <LimitsDialog target={target} onClose={() => setTarget(undefined)} />}
      {deleted && <DeleteDialog config={deleted} onClose={() => setDeleted(undefined)} />}
    </Page>
  );
}

interface ContentProps {
  readonly data: OrgLimits;
  readonly onEdit: (target: LevelTarget) => void;
  readonly onDelete: (config: ConfigFragment) => void;
}

function Content({ data, onEdit, onDelete }: ContentProps) {
  const [search, setSearch] = useSearchParams();
  const resources = data.limitConfigs.filter(({ level }) => level === 'RESOURCE');
  const system = data.limitConfigs.find(({ level }) => level === 'SYSTEM');
  const chosen = resources.find(({ resource }) => resource === search.get('resource')) ?? resources[0];
  return (
    <div class="columns">
      <div class="stack">
        {chosen?.resource ? (
          <ResourceDetail key={chosen.resource} config={chosen} resource={chosen.resource} onEdit={onEdit} />
        ) : (
          <Card title="Resources" flush>
            <Empty title="No resource has limits yet" command={commands.setLimits()}>
              A resource is anything that entities use: a model, an endpoint, an export. Set its limits here, or with
              this command:
            </Empty>
          </Card>
        )}
      </div>
      <div class="stack">
        <Card title="Levels" flush>
          <ul class="list">
            <SystemRow config={system} onEdit={onEdit} onDelete={onDelete} />
            {resources.map((config) => (
              <ConfigRow
                key={config.resource}
                config={config}
                isCurrent={config === chosen}
                onOpen={() => setSearch({ resource: config.resource ?? '' })}
                onEdit={onEdit}
                onDelete={onDelete}
              />
            ))}
          </ul>
        </Card>
        <EntityFinder entities={data.entities} />
      </div>
    </div>
  );
}

interface RowProps {
  readonly onEdit: (target: LevelTarget) => void;
  readonly onDelete: (config: ConfigFragment) => void;
}

export const LimitLines = ({ config }: { readonly config: Pick<ConfigFragment, 'limits'> }) => (
  <>
    {config.limits.map((limit) => (
      <span key={limit.name} class="limit-line muted">
        <code>{limit.name}</code> {limitText(limit)} {!limit.enforce && <Badge>not enforced</Badge>}
      </span>
    ))}
  </>
);

function SystemRow({ config, onEdit, onDelete }: RowProps & { readonly config: ConfigFragment | undefined }) {
  const target: LevelTarget = config ? { level: 'SYSTEM', config, isFixed: true } : { level: 'SYSTEM', isFixed: true };
  return (
    <li>
      <span class="grow">
        <strong>System</strong> <span class="muted">all entities and resources</span>
        {config ? <LimitLines config={config} /> : <span class="limit-line muted">no limits</span>}
        <span class="limit-line muted">
          {config?.onUnavailable === 'ALLOW' ? 'allows acquires' : 'blocks acquires'} while the database is unavailable
        </span>
      </span>
      <WriteButton
        tone="plain small"
        icon="edit"
        label="Change the limits of the system"
        onClick={() => onEdit(target)}
      />
      {config && (
        <WriteButton
          tone="plain small"
          icon="trash"
          label="Delete the limits of the system"
          onClick={() => onDelete(config)}
        />
      )}
    </li>
  );
}

interface ConfigRowProps extends RowProps {
  readonly config: ConfigFragment;
  readonly isCurrent: boolean;
  readonly onOpen: () => void;
}

function ConfigRow({ config, isCurrent, onOpen, onEdit, onDelete }: ConfigRowProps) {
  const resource = config.resource ?? '';
  return (
    <li>
      <span class="grow">
        <button type="button" class="link" aria-current={isCurrent ? 'true' : undefined} onClick={onOpen}>
          {resource}
        </button>
        <LimitLines config={config} />
      </span>
      <WriteButton
        tone="plain small"
        icon="edit"
        label={`Change the limits of ${resource}`}
        onClick={() => onEdit({ level: 'RESOURCE', resource, config, isFixed: true })}
      />
      <WriteButton
        tone="plain small"
        icon="trash"
        label={`Delete the limits of ${resource}`}
        onClick={() => onDelete(config)}
      />
    </li>
  );
}

function DeleteDialog({ config, onClose }: { readonly config: ConfigFragment; readonly onClose: () => void }) {
  const { orgId } = useOrg();
  const { level, resource, version } = config;
  const where = resource ?? 'the system';
  return (
    <Confirm
      title={`Delete the limits of ${where}?`}
      submit="Delete"
      done={`The limits of ${where} were deleted`}
      onConfirm={() =>
        send(DeleteLimitsDocument, {
          input: { orgId, level, ...(resource ? { resource } : {}), expectedVersion: version },
        })
      }
      onClose={onClose}
    >
      The next weaker level applies then. Without any limits, an acquire is refused with an error.
    </Confirm>
  );
}
