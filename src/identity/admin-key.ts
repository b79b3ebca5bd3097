import { deriveKey, equalInConstantTime } from '../lib/seal.js';

/** A key of the platform admin. The name is for the audit trail. */
export interface AdminKey {
  readonly name: string;
  readonly key: string;
}

const minLength = 32;
export const maxAdminKeys = 16;
const namePattern = /^[a-z0-9][a-z0-9_.-]{0,31}$/;
const aliasName = 'admin';

/**
 * The admin keys of the environment, listed as `name:key,name:key`. `single` is the older variable: one key named
 * `admin`.
 */
export function parseAdminKeys(
  list: string | undefined,
  single: string | undefined,
): { readonly keys: readonly AdminKey[]; readonly faults: readonly string[] } {
  const listed = list === undefined ? [] : list.split(',').map(parseEntry);
  const keys = single === undefined ? listed : [...listed, { name: aliasName, key: single }];
  const faults: string[] = [];
  const refuse = (message: string) => faults.push(`TOLLGATE_ADMIN_KEYS: ${message}`);
  if (keys.length === 0)
    refuse(
      'is missing: a comma-separated list of name:key, each key of at least 32 characters ' +
        '(or TOLLGATE_ADMIN_KEY with one key)',
    );
  if (listed.some(({ name }) => !namePattern.test(name)))
    refuse('must be name:key,name:key; a name is 1 to 32 of a-z 0-9 . _ - and begins with a letter or digit');
  if (listed.some(({ key }) => key.length < minLength)) refuse(`each key must have at least ${minLength} characters`);
  if (single !== undefined && single.length < minLength)
    faults.push(`TOLLGATE_ADMIN_KEY: must have at least ${minLength} characters`);
  if (keys.length > maxAdminKeys) refuse(`must have at most ${maxAdminKeys} keys`);
  if (new Set(keys.map(({ name }) => name)).size < keys.length)
    refuse('must not use a name twice (TOLLGATE_ADMIN_KEY has the name admin)');
  if (new Set(keys.map(({ key }) => key)).size < keys.length) refuse('must not list a key twice');
  return { keys, faults };
}

function parseEntry(entry: string): AdminKey {
  const colon = entry.indexOf(':');
  return { name: entry.slice(0, Math.max(0, colon)).trim(), key: entry.slice(colon + 1).trim() };
}

const keyIdBytes = 4;

/** A short id of an admin key, to tell it from a later key of the same name. It reveals nothing of the key. */
export const adminKeyId = (key: string): string => deriveKey(key, 'admin key id', keyIdBytes).toString('hex');

/** The admin key that equals the presented one. Takes the same time whichever key matches, or none. */
export function matchingAdminKey(keys: readonly AdminKey[], presented: string): AdminKey | undefined {
  const matches = keys.map(({ key }) => equalInConstantTime(presented, key));
  return keys[matches.indexOf(true)];
}
