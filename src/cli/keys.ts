import { newSigningKeys } from '../identity/token.js';

/** A new set of signing keys, as text. */
export async function keys(): Promise<string> {
  return `${JSON.stringify({ keys: await newSigningKeys() })}\n`;
}
