export async function keys(): Promise<void> {
  const { newSigningKeys } = await import('../identity/token.js');
  process.stdout.write(`${JSON.stringify({ keys: await newSigningKeys() })}\n`);
}
