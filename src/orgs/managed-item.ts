import type { Issue } from '../lib/errors.js';
import type { Nullable } from './settings.js';

/**
 * The record that a configuration file keeps about one thing it manages: an app, a budget, the limits of a level. The
 * documents are the caller's own text. Tollgate stores them and does not interpret them.
 */
export interface ManagedItem {
  /** Names the thing within its org, for example `app:chat`. */
  readonly item: string;
  /** Names the configuration file. */
  readonly manager: string;
  /** The document as it was last applied. Absent if it was never applied. */
  readonly document?: string;
  /** The version of the thing that resulted. */
  readonly version?: number;
  /** The document that is about to be applied. Absent if no change is under way. */
  readonly intent?: string;
  readonly updatedAt: Date;
}

/** A record as a caller sends it. Without document and intent, the record is deleted. */
export interface ManagedItemRequest extends Nullable<Pick<ManagedItem, 'document' | 'version' | 'intent'>> {
  readonly item: string;
}

/** Bounded because all records of a call are written in one transaction. */
export const maxItemsPerCall = 25;
/** Room for the quotas of an org for all labels of a full catalog. */
export const maxDocumentChars = 65_536;
const managerPattern = /^[A-Za-z0-9][A-Za-z0-9_.@-]{0,63}$/;
const itemPattern = /^[a-z][A-Za-z0-9_.:@/%~-]{0,511}$/;

export function managedIssues(manager: string, items: readonly ManagedItemRequest[]): Issue[] {
  return [
    ...(managerPattern.test(manager)
      ? []
      : [
          {
            path: 'input.manager',
            message: 'must have 1 to 64 characters of A-Z a-z 0-9 _ . @ - and begin with a letter or digit',
          },
        ]),
    ...(items.length < 1 || items.length > maxItemsPerCall
      ? [{ path: 'input.items', message: `must have 1 to ${maxItemsPerCall} items` }]
      : items.flatMap((_, index) => itemIssues(items, index))),
  ];
}

function itemIssues(items: readonly ManagedItemRequest[], index: number): Issue[] {
  const { item, document, version, intent } = items[index] as ManagedItemRequest;
  const path = `input.items.${index}`;
  const isTooLong = (text: string | null | undefined) => (text?.length ?? 0) > maxDocumentChars;
  const isBadVersion = typeof version === 'number' && (!Number.isSafeInteger(version) || version < 0);
  return [
    ...(itemPattern.test(item)
      ? []
      : [
          {
            path: `${path}.item`,
            message: 'must have 1 to 512 characters of A-Z a-z 0-9 _ . : @ / % ~ - and begin with a small letter',
          },
        ]),
    ...(items.findIndex((other) => other.item === item) === index
      ? []
      : [{ path: `${path}.item`, message: 'is listed twice' }]),
    ...(isTooLong(document)
      ? [{ path: `${path}.document`, message: `must have at most ${maxDocumentChars} characters` }]
      : []),
    ...(isTooLong(intent)
      ? [{ path: `${path}.intent`, message: `must have at most ${maxDocumentChars} characters` }]
      : []),
    ...(isBadVersion ? [{ path: `${path}.version`, message: 'must be 0 or larger' }] : []),
    ...((typeof document === 'string') === (typeof version === 'number')
      ? []
      : [{ path: `${path}.version`, message: 'must be sent with document; send both or neither' }]),
  ];
}

/** True if the record is to be deleted. */
export const isRemoval = ({ document, intent }: ManagedItemRequest): boolean =>
  typeof document !== 'string' && typeof intent !== 'string';
