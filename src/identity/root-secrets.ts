import { rootIdOf } from '../lib/seal.js';

const minBytes = 32;
export const maxRootSecrets = 8;

/**
 * The root secrets in order. The first one makes new hashes and tokens; all of them verify. `single` is the older
 * variable with one secret. It counts as the last of the list, so that it still verifies after the list was introduced.
 */
export function parseRootSecrets(
  list: string | undefined,
  single: string | undefined,
): { readonly secrets: readonly string[]; readonly faults: readonly string[] } {
  const listed = list === undefined ? [] : list.split(',').map((secret) => secret.trim());
  const secrets = single === undefined || listed.includes(single) ? listed : [...listed, single];
  const faults: string[] = [];
  if (secrets.length === 0) {
    faults.push(
      'TOLLGATE_ROOT_SECRETS: is missing: a comma-separated list of secrets of at least 32 bytes each ' +
        '(or API_KEY_PEPPER with one secret)',
    );
  }
  if (listed.some(isShort)) faults.push(`TOLLGATE_ROOT_SECRETS: each secret must have at least ${minBytes} bytes`);
  if (single !== undefined && isShort(single)) faults.push(`API_KEY_PEPPER: must have at least ${minBytes} bytes`);
  if (secrets.length > maxRootSecrets)
    faults.push(`TOLLGATE_ROOT_SECRETS: must have at most ${maxRootSecrets} secrets`);
  if (new Set(secrets.map(rootIdOf)).size < secrets.length)
    faults.push('TOLLGATE_ROOT_SECRETS: must not list a secret twice');
  return { secrets, faults };
}

const isShort = (secret: string): boolean => Buffer.byteLength(secret) < minBytes;
