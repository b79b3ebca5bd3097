import { Field, ID, InterfaceType } from 'type-graphql';

/** Every domain object that is a node names its GraphQL type, for `resolveType`. */
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

/** An opaque id made of the type and the keys of the object, its tenant first. */
export const nodeId = (type: string, ...parts: readonly string[]): string =>
  Buffer.from(JSON.stringify([type, ...parts])).toString('base64url');

/** The parts of an id, type first; undefined if `nodeId` did not make it. */
export function parseNodeId(id: string): readonly [type: string, ...parts: string[]] | undefined {
  try {
    const parts: unknown = JSON.parse(Buffer.from(id, 'base64url').toString());
    const isValid =
      Array.isArray(parts) &&
      parts.length > 1 &&
      parts.every((part) => typeof part === 'string') &&
      nodeId(...(parts as [string, ...string[]])) === id;
    return isValid ? (parts as [string, ...string[]]) : undefined;
  } catch {
    return undefined;
  }
}
