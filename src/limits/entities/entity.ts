import { type AuditDetail, changesBetween } from '../../audit/audit-event.js';
import type { Issue } from '../../lib/errors.js';
import { entityIssues } from '../limit.js';

export interface Metadata {
  readonly name: string;
  readonly value: string;
}

/** Whom limits are for. It need not be created to be acquired for; then it has only its id. */
export interface Entity {
  readonly nodeType: 'Entity';
  readonly orgId: string;
  readonly entityId: string;
  readonly name?: string;
  readonly parentId?: string;
  readonly cascade: boolean;
  readonly metadata: readonly Metadata[];
  readonly createdAt?: Date;
  /** Of an entity of which only past use is left. */
  readonly deletedAt?: Date;
  /** Raised by every change; 0 if it was never created. */
  readonly version: number;
}

export interface NewEntity {
  readonly entityId: string;
  readonly name?: string | null | undefined;
  readonly parentId?: string | null | undefined;
  readonly cascade: boolean;
  readonly metadata: readonly Metadata[];
}

/** Absent stays as it is; null clears a name or a parent and leaves the rest as it is. */
export interface EntityChanges {
  readonly name?: string | null | undefined;
  readonly parentId?: string | null | undefined;
  readonly cascade?: boolean | null | undefined;
  readonly metadata?: readonly Metadata[] | null | undefined;
}

const mostMetadata = 32;
const mostNameLength = 256;
const mostValueLength = 1024;
/** An audit event with every pair of metadata old and new stays far below the maximum size of an item. */
export const mostAuditedLength = 256;

const textIssues = (value: string, most: number, path: string): Issue[] =>
  value.trim() !== '' && value.length <= most && value.isWellFormed()
    ? []
    : [{ path, message: `must have 1 to ${most} characters, not only spaces` }];

export function newEntityIssues({ entityId, name, parentId, metadata }: NewEntity, path: string): Issue[] {
  const names = metadata.map((pair) => pair.name);
  return [
    ...entityIssues(entityId, `${path}entityId`),
    ...(typeof name === 'string' ? textIssues(name, mostNameLength, `${path}name`) : []),
    ...(typeof parentId === 'string' ? entityIssues(parentId, `${path}parentId`) : []),
    ...(parentId === entityId ? [{ path: `${path}parentId`, message: 'an entity cannot be its own parent' }] : []),
    ...(metadata.length > mostMetadata
      ? [{ path: `${path}metadata`, message: `must have at most ${mostMetadata} pairs` }]
      : []),
    ...metadata.flatMap((pair, i) => [
      ...textIssues(pair.name, mostNameLength, `${path}metadata.${i}.name`),
      ...(pair.value.length <= mostValueLength && pair.value.isWellFormed()
        ? []
        : [{ path: `${path}metadata.${i}.value`, message: `must have at most ${mostValueLength} characters` }]),
      ...(names.indexOf(pair.name) < i
        ? [{ path: `${path}metadata.${i}.name`, message: `"${pair.name}" is named twice` }]
        : []),
    ]),
  ];
}

export const entityChangeIssues = (
  entityId: string,
  { name, parentId, metadata }: EntityChanges,
  path: string,
): Issue[] => newEntityIssues({ entityId, name, parentId, cascade: false, metadata: metadata ?? [] }, path);

export function changedEntity(before: Entity, changes: EntityChanges): Entity {
  const { name: oldName, parentId: oldParentId, ...rest } = before;
  const name = changes.name === undefined ? oldName : changes.name;
  const parentId = changes.parentId === undefined ? oldParentId : changes.parentId;
  return {
    ...rest,
    ...(typeof name === 'string' ? { name } : {}),
    ...(typeof parentId === 'string' ? { parentId } : {}),
    cascade: changes.cascade ?? before.cascade,
    metadata: changes.metadata ?? before.metadata,
    version: before.version + 1,
  };
}

export const isSameEntity = (a: Entity, b: Entity): boolean =>
  JSON.stringify(changeable(a)) === JSON.stringify(changeable(b));

const changeable = ({ name, parentId, cascade, metadata }: Entity) => [
  name,
  parentId,
  cascade,
  metadata.map((pair) => [pair.name, pair.value]),
];

/** What was changed about an entity, for its audit event. Long values are cut. */
export const entityDetails = (before: Entity, after: Entity): AuditDetail[] =>
  changesBetween(audited(before), audited(after)).map(({ name, value, previousValue = '' }) => ({
    name,
    value: cut(value),
    previousValue: cut(previousValue),
  }));

const audited = ({ name, parentId, cascade, metadata }: Entity): object => ({
  name,
  parent: parentId,
  cascade,
  ...Object.fromEntries(metadata.map((pair) => [`metadata.${pair.name}`, pair.value])),
});

const cut = (text: string): string =>
  text.length <= mostAuditedLength ? text : `${text.slice(0, mostAuditedLength).toWellFormed()}…`;

/** An entity of which only the id is known. */
export const unnamedEntity = (orgId: string, entityId: string): Entity => ({
  nodeType: 'Entity',
  orgId,
  entityId,
  cascade: false,
  metadata: [],
  version: 0,
});
