import { hmac } from '../lib/seal.js';

/** A key that devices present. Only a hash of it is stored. */
export interface ApiKey {
  readonly nodeType: 'ApiKey';
  readonly orgId: string;
  readonly keyId: string;
  readonly description?: string;
  /** Present: the key serves this device only. */
  readonly hardwareId?: string;
  /** The first key of its line. A key and those that replace it own the same devices. */
  readonly ownerId: string;
  readonly active: boolean;
  readonly createdAt: Date;
  readonly lastUsedAt?: Date;
}

const pattern = /^tgk_([0-9a-f]{8})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{12})_[0-9a-f]{64}$/;

export const formatApiKey = (keyId: string, secretHex: string): string =>
  `tgk_${keyId.replaceAll('-', '')}_${secretHex}`;

/**
 * The key id inside the text of a key; undefined for other text. A read by id can be consistent, a read of an index
 * cannot.
 */
export function keyIdIn(text: string): string | undefined {
  const [, ...parts] = pattern.exec(text) ?? [];
  return parts.length > 0 ? parts.join('-') : undefined;
}

/** The hash under the key of one root secret. The id of that root is stored beside the hash. */
export const hashApiKey = (rootKey: Buffer, key: string): string => hmac(rootKey, key).toString('hex');

const maxDescriptionLength = 256;

export const descriptionIssues = (description: string) =>
  description.trim() !== '' &&
  description.length <= maxDescriptionLength &&
  description.isWellFormed() &&
  !/\p{Cc}/u.test(description)
    ? []
    : [
        {
          path: 'input.description',
          message: `must have 1 to ${maxDescriptionLength} characters, no control characters, and not be blank`,
        },
      ];
