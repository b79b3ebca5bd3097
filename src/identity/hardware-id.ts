import type { Issue } from '../lib/errors.js';

const hardwareIdInAnyCase = /^[0-9A-Fa-f]{2}(:[0-9A-Fa-f]{2}){5}$/;

/** A MAC address names the same device in upper and in lower case. Tested before it is converted: `ﬀ` becomes `FF`. */
export const isHardwareId = (value: string): boolean => hardwareIdInAnyCase.test(value);
export const normalHardwareId = (value: string): string => value.toUpperCase();

export const hardwareIdIssues = (value: string, path: string): Issue[] =>
  isHardwareId(value) ? [] : [{ path, message: 'must be a MAC address such as AA:BB:CC:DD:EE:FF' }];
