import { Field, ID, InterfaceType } from 'type-graphql';

/** What `resolveType` goes by: every domain object that is a node says which. */
interface NodeLike {
  readonly nodeType: string;
}

export const globalIdText = 'Opaque and globally unique. Pass it to `node`.';

@InterfaceType('Node', {
  description: 'An object that `node` finds by its id.',
  resolveType: ({ nodeType }: NodeLike) => nodeType,
})
export abstract class Node {
  @Field(() => ID, { description: globalIdText })
  readonly id!: string;
}

/** Opaque, tagged with its type, and holding the tenant it belongs to. */
export const nodeId = (type: string, ...parts: readonly string[]): string =>
  Buffer.from(JSON.stringify([type, ...parts])).toString('base64url');

/** The parts of an id, type first; undefined for whatever is none of ours. */
export function parseNodeId(id: string): readonly [type: string, ...parts: string[]] | undefined {
  try {
    const parts: unknown = JSON.parse(Buffer.from(id, 'base64url').toString());
    const sound =
      Array.isArray(parts) &&
      parts.length > 1 &&
      parts.every((part) => typeof part === 'string') &&
      nodeId(...(parts as [string, ...string[]])) === id;
    return sound ? (parts as [string, ...string[]]) : undefined;
  } catch {
    return undefined;
  }
}
