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

/** The id of the key inside a text that looks like one. A read by id is consistent; an index would lag. */
export function keyIdIn(text: string): string | undefined {
  const [, ...parts] = pattern.exec(text) ?? [];
  return parts.length > 0 ? parts.join('-') : undefined;
}

/** Under the key of one root: the stored hash names the root beside it. */
export const hashApiKey = (rootKey: Buffer, key: string): string => hmac(rootKey, key).toString('hex');

const maxDescription = 256;

export const descriptionIssues = (description: string) =>
  description.trim() !== '' &&
  description.length <= maxDescription &&
  description.isWellFormed() &&
  !/\p{Cc}/u.test(description)
    ? []
    : [
        {
          path: 'input.description',
          message: `must have 1 to ${maxDescription} characters, no control characters, and not be blank`,
        },
      ];
