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
}

export interface NewEntity {
  readonly entityId: string;
  readonly name?: string | null | undefined;
  readonly parentId?: string | null | undefined;
  readonly cascade: boolean;
  readonly metadata: readonly Metadata[];
}

const mostMetadata = 32;
const mostNameLength = 256;
const mostValueLength = 1024;

const textIssues = (value: string, most: number, path: string): Issue[] =>
  value.trim() !== '' && value.length <= most && value.isWellFormed() ? [] : [{ path, message: `must have 1 to ${most} characters, not only spaces` }];

export function newEntityIssues({ entityId, name, parentId, metadata }: NewEntity, path: string): Issue[] {
  const names = metadata.map((pair) => pair.name);
  return [
    ...entityIssues(entityId, `${path}entityId`),
    ...(typeof name === 'string' ? textIssues(name, mostNameLength, `${path}name`) : []),
    ...(typeof parentId === 'string' ? entityIssues(parentId, `${path}parentId`) : []),
    ...(parentId === entityId ? [{ path: `${path}parentId`, message: 'an entity cannot be its own parent' }] : []),
    ...(metadata.length > mostMetadata ? [{ path: `${path}metadata`, message: `must have at most ${mostMetadata} pairs` }] : []),
    ...metadata.flatMap((pair, i) => [
      ...textIssues(pair.name, mostNameLength, `${path}metadata.${i}.name`),
      ...(pair.value.length <= mostValueLength && pair.value.isWellFormed()
        ? []
        : [{ path: `${path}metadata.${i}.value`, message: `must have at most ${mostValueLength} characters` }]),
      ...(names.indexOf(pair.name) < i ? [{ path: `${path}metadata.${i}.name`, message: `"${pair.name}" is named twice` }] : []),
    ]),
  ];
}

/** An entity of which only the id is known. */
export const unnamedEntity = (orgId: string, entityId: string): Entity => ({ nodeType: 'Entity', orgId, entityId, cascade: false, metadata: [] });
