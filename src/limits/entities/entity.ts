import { type AuditDetail, changesBetween } from '../../audit/audit-event.js';
import type { Issue } from '../../lib/errors.js';
import { entityIssues } from './entity-id.js';

export interface Metadata {
  readonly name: string;
  readonly value: string;
}

/**
 * Something that limits apply to, such as a user. An entity need not be created before an acquire; then it has only its
 * id.
 */
export interface Entity {
  readonly nodeType: 'Entity';
  readonly orgId: string;
  readonly entityId: string;
  readonly name?: string;
  readonly parentId?: string;
  readonly cascade: boolean;
  readonly metadata: readonly Metadata[];
  readonly createdAt?: Date;
  /** Set if the entity was deleted and only its past usage is left. */
  readonly deletedAt?: Date;
  /** Increases with every change. 0 if the entity was never created, or before versions existed. */
  readonly version: number;
}

export interface NewEntity {
  readonly entityId: string;
  readonly name?: string | null | undefined;
  readonly parentId?: string | null | undefined;
  readonly cascade: boolean;
  readonly metadata: readonly Metadata[];
}

/** An absent field stays unchanged. Null clears `name` and `parentId` and leaves the other fields unchanged. */
export interface EntityChanges {
  readonly name?: string | null | undefined;
  readonly parentId?: string | null | undefined;
  readonly cascade?: boolean | null | undefined;
  readonly metadata?: readonly Metadata[] | null | undefined;
}

const maxMetadata = 32;
const maxNameLength = 256;
const maxValueLength = 1024;
/** With this bound an audit event with all metadata, old and new, stays far below the maximum size of an item. */
export const maxAuditedLength = 256;

const textIssues = (value: string, maxLength: number, path: string): Issue[] =>
  value.trim() !== '' && value.length <= maxLength && value.isWellFormed()
    ? []
    : [{ path, message: `must have 1 to ${maxLength} characters, not only spaces` }];

export function newEntityIssues({ entityId, name, parentId, metadata }: NewEntity, path: string): Issue[] {
  const names = metadata.map((pair) => pair.name);
  return [
    ...entityIssues(entityId, `${path}entityId`),
    ...(typeof name === 'string' ? textIssues(name, maxNameLength, `${path}name`) : []),
    ...(typeof parentId === 'string' ? entityIssues(parentId, `${path}parentId`) : []),
    ...(parentId === entityId ? [{ path: `${path}parentId`, message: 'an entity cannot be its own parent' }] : []),
    ...(metadata.length > maxMetadata
      ? [{ path: `${path}metadata`, message: `must have at most ${maxMetadata} pairs` }]
      : []),
    ...metadata.flatMap((pair, i) => [
      ...textIssues(pair.name, maxNameLength, `${path}metadata.${i}.name`),
      ...(pair.value.length <= maxValueLength && pair.value.isWellFormed()
        ? []
        : [{ path: `${path}metadata.${i}.value`, message: `must have at most ${maxValueLength} characters` }]),
      ...(names.indexOf(pair.name) < i
        ? [{ path: `${path}metadata.${i}.name`, message: `"${pair.name}" appears more than once` }]
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

/** The changes of an entity for its audit event. Long values are cut. */
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
  text.length <= maxAuditedLength ? text : `${text.slice(0, maxAuditedLength).toWellFormed()}…`;

/** An entity that was never created: only its id is known. */
export const uncreatedEntity = (orgId: string, entityId: string): Entity => ({
  nodeType: 'Entity',
  orgId,
  entityId,
  cascade: false,
  metadata: [],
  version: 0,
});
