import { newSigningKeys } from '../identity/token.js';

/** Prints a new set of signing keys. */
export async function keys(): Promise<void> {
  process.stdout.write(`${JSON.stringify({ keys: await newSigningKeys() })}\n`);
}
