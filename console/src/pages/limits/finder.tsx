import { useState } from 'preact/hooks';
import { Link, useLocation } from 'wouter-preact';
import { refreshAll, send, useQuery } from '../../data/client.js';
import {
  CreateEntityDocument,
  type EntityLineFragment,
  type LimitsQuery,
  SearchEntitiesDocument,
} from '../../gql/graphql.js';
import { WriteButton } from '../../parts/write-button.js';
import { useOrg } from '../../shell/context.js';
import { entityPath } from '../../shell/routes.js';
import { FormDialog } from '../../ui/dialog.js';
import { Check, Field } from '../../ui/field.js';
import { Icon } from '../../ui/icon.js';
import { Badge, Card } from '../../ui/parts.js';
import { Loaded } from '../../ui/states.js';

type Entities = NonNullable<LimitsQuery['org']>['entities'];

const prefixPattern = /^[A-Za-z0-9][\w.\-:@]{0,255}$/;

/** Finds entities by the beginning of their id, and opens any id, created or not. */
export function EntityFinder({ entities }: { readonly entities: Entities }) {
  const { orgId } = useOrg();
  const [, navigate] = useLocation();
  const [text, setText] = useState('');
  const [isNew, setNew] = useState(false);
  const prefix = prefixPattern.test(text) ? text : '';
  const query = useQuery(SearchEntitiesDocument, { orgId, prefix }, { enabled: prefix !== '', keepPrevious: true });
  return (
    <Card
      title="Entities"
      flush
      actions={
        <WriteButton tone="small" icon="plus" onClick={() => setNew(true)}>
          Create
        </WriteButton>
      }
    >
      <form
        class="card-body row"
        onSubmit={(event) => {
          event.preventDefault();
          if (prefix) navigate(entityPath(orgId, text));
        }}
      >
        <input
          type="search"
          class="input grow"
          aria-label="Find an entity by the beginning of its id"
          placeholder="Beginning of an id"
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
        <button type="submit" class="button" aria-disabled={prefix === ''}>
          <Icon name="right" />
          Open
        </button>
      </form>
      {prefix === '' ? (
        <Lines nodes={entities.nodes} more={entities.pageInfo.hasNextPage} />
      ) : (
        <Loaded query={query} what="the entities">
          {({ org }) => (
            <Lines nodes={org?.searchEntities.nodes ?? []} more={org?.searchEntities.pageInfo.hasNextPage ?? false} />
          )}
        </Loaded>
      )}
      {isNew && <CreateDialog onClose={() => setNew(false)} />}
    </Card>
  );
}

function Lines({ nodes, more }: { readonly nodes: readonly EntityLineFragment[]; readonly more: boolean }) {
  const { orgId } = useOrg();
  return (
    <>
      <ul class="list">
        {nodes.length === 0 && (
          <li class="muted">No created entity. An entity need not be created to acquire: open any id.</li>
        )}
        {nodes.map(({ entityId, name, cascade }) => (
          <li key={entityId}>
            <span class="grow">
              <Link href={entityPath(orgId, entityId)}>{entityId}</Link> {name && <span class="muted">{name}</span>}
            </span>
            {cascade && <Badge>cascades</Badge>}
          </li>
        ))}
      </ul>
      {more && <p class="card-foot">There are more. Type the beginning of the id.</p>}
    </>
  );
}

function CreateDialog({ onClose }: { readonly onClose: () => void }) {
  const { orgId } = useOrg();
  const [, navigate] = useLocation();
  const [entityId, setEntityId] = useState('');
  const [name, setName] = useState('');
  const [parentId, setParentId] = useState('');
  const [cascade, setCascade] = useState(false);
  return (
    <FormDialog
      title="Create entity"
      submit="Create"
      onClose={onClose}
      onSubmit={async () => {
        const optional = { ...(name ? { name } : {}), ...(parentId ? { parentId } : {}) };
        await send(CreateEntityDocument, { input: { orgId, entityId, cascade, ...optional } });
        navigate(entityPath(orgId, entityId));
        void refreshAll();
      }}
    >
      <Field
        label="Id"
        value={entityId}
        onInput={setEntityId}
        required
        autoFocus
        maxLength={256}
        hint="1–256 of A-Z a-z 0-9 _ . - : @"
      />
      <Field label="Name" value={name} onInput={setName} hint="Optional" />
      <Field label="Parent" value={parentId} onInput={setParentId} hint="Optional: the id of an entity that exists" />
      <Check label="Cascade: each acquire also takes from the parent" checked={cascade} onChange={setCascade} />
    </FormDialog>
  );
}
