import type { Issue } from '../../lib/errors.js';

export const entityIdPattern = /^[A-Za-z0-9][A-Za-z0-9_.:@-]{0,255}$/;

export const isEntityId = (value: string): boolean => entityIdPattern.test(value);

export const entityIssues = (value: string, path: string): Issue[] =>
  isEntityId(value)
    ? []
    : [{ path, message: 'must have 1–256 characters of A-Z a-z 0-9 _ . - : @ and begin with a letter or digit' }];
