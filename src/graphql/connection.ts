import { ArgsType, type ClassType, Field, Int, ObjectType } from 'type-graphql';
import { badInput } from '../lib/errors.js';
import type { Sealer } from '../lib/seal.js';

@ObjectType()
export class PageInfo {
  @Field(() => Boolean, { simple: true })
  readonly hasNextPage!: boolean;

  @Field(() => Boolean, { simple: true })
  readonly hasPreviousPage!: boolean;

  @Field(() => String, { nullable: true, simple: true })
  readonly startCursor!: string | null;

  @Field(() => String, { nullable: true, simple: true })
  readonly endCursor!: string | null;
}

const defaultFirst = 50;
const mostFirst = 100;

@ArgsType()
export class PageArgs {
  @Field(() => Int, { nullable: true, defaultValue: defaultFirst, description: `1 to ${mostFirst}; of readings 1 to 1000.` })
  readonly first?: number | null;

  @Field(() => String, { nullable: true, description: 'The `endCursor` of the page before.' })
  readonly after?: string | null;
}

export interface Edge<T> {
  readonly cursor: string;
  readonly node: T;
}
export interface Connection<T> {
  readonly edges: readonly Edge<T>[];
  readonly nodes: readonly T[];
  readonly pageInfo: PageInfo;
}

/** The connection and edge types of a node type, named after it. */
export function connectionType<T extends object>(name: string, node: () => ClassType<T>): ClassType<Connection<T>> {
  @ObjectType(`${name}Edge`)
  class EdgeType {
    @Field(() => String, { simple: true })
    readonly cursor!: string;

    @Field(node, { simple: true })
    readonly node!: T;
  }
  @ObjectType(`${name}Connection`)
  class ConnectionType {
    @Field(() => [EdgeType], { simple: true })
    readonly edges!: EdgeType[];

    @Field(() => [node()], { simple: true })
    readonly nodes!: T[];

    @Field(() => PageInfo, { simple: true })
    readonly pageInfo!: PageInfo;
  }
  return ConnectionType as unknown as ClassType<Connection<T>>;
}

/** What a cursor of this list is sealed for: another tenant's, or another field's, does not open here. */
export interface Listing {
  readonly cursors: Sealer;
  readonly tenant: string;
  readonly field: string;
  /** How many a page may have; absent: 100. */
  readonly most?: number;
}

/** One page, forward. `fetch` is asked for one row more than wanted, which tells whether there are more; `position` is what a cursor holds. */
export async function paginate<T>(
  { first, after }: PageArgs,
  { cursors, tenant, field, most = mostFirst }: Listing,
  position: (row: T) => string,
  fetch: (limit: number, after: string | undefined) => Promise<readonly T[]>,
): Promise<Connection<T>> {
  const wanted = first ?? defaultFirst;
  if (!Number.isInteger(wanted) || wanted < 1 || wanted > most) throw badInput({ path: 'first', message: `must be from 1 to ${most}` });
  const context = `${tenant} ${field}`;
  const start = typeof after === 'string' ? cursors.open(context, after) : undefined;
  if (typeof after === 'string' && start === undefined) throw badInput({ path: 'after', message: 'is no cursor of this list' });
  const rows = await fetch(wanted + 1, start);
  const edges = rows.slice(0, wanted).map((node) => ({ cursor: cursors.seal(context, position(node)), node }));
  return {
    edges,
    nodes: edges.map(({ node }) => node),
    pageInfo: {
      hasNextPage: rows.length > wanted,
      hasPreviousPage: start !== undefined,
      startCursor: edges[0]?.cursor ?? null,
      endCursor: edges.at(-1)?.cursor ?? null,
    },
  };
}
