import type { Issue } from './errors.js';

/** The version that a change starts from. Absent or null means any version, 0 means that the object must not exist. */
export type ExpectedVersion = number | null | undefined;

/** A change that may name the version that it starts from. */
export interface VersionedChange {
  readonly expectedVersion?: ExpectedVersion;
}

/** True if the caller expected another version. The current version of an object that does not exist is 0. */
export const isStale = (expected: ExpectedVersion, currentVersion: number): boolean =>
  expected !== undefined && expected !== null && expected !== currentVersion;

export const expectedVersionIssues = (expected: ExpectedVersion, path = 'input.expectedVersion'): Issue[] =>
  (expected ?? 0) < 0 ? [{ path, message: 'must be 0 or larger' }] : [];
