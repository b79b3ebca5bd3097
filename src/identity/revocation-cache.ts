import { Lru } from '../lib/lru.js';
import type { AccessClaims } from './token.js';

const max = 10_000;

/** The revocations of this process. Only used during an outage of DynamoDB, which holds all revocations. */
export class RevocationCache {
  private readonly tokens = new Lru<string, true>(max);
  private readonly families = new Lru<string, true>(max);
  /** The first generation of a client whose tokens are valid. */
  private readonly clients = new Lru<string, number>(max);

  noteToken(tokenId: string): void {
    this.tokens.set(tokenId, true);
  }

  noteFamily(family: string): void {
    this.families.set(family, true);
  }

  noteClient(clientId: string, validFromGeneration: number): void {
    this.clients.set(clientId, Math.max(validFromGeneration, this.clients.get(clientId) ?? 0));
  }

  has({ tokenId, family, clientId, generation }: AccessClaims): boolean {
    return this.tokens.has(tokenId) || this.families.has(family) || generation < (this.clients.get(clientId) ?? 0);
  }
}
