import type { Issue } from '../lib/errors.js';
import { hardwareIdPattern } from '../lib/patterns.js';

/** A MAC address names the same device in upper and in lower case. */
export const isHardwareId = (value: string): boolean => hardwareIdPattern.test(normalHardwareId(value));
export const normalHardwareId = (value: string): string => value.toUpperCase();

export const hardwareIdIssues = (value: string, path: string): Issue[] =>
  isHardwareId(value) ? [] : [{ path, message: 'must be a MAC address such as AA:BB:CC:DD:EE:FF' }];
