import { ArgsType, type ClassType, Field, Int, ObjectType } from 'type-graphql';
import { badInput } from '../lib/errors.js';
import type { Sealer } from '../lib/seal.js';

@ObjectType({ description: 'Where a page stands in its list. Lists are paged forward only.' })
export class PageInfo {
  @Field(() => Boolean, { simple: true, description: 'Whether there is another page after this one.' })
  readonly hasNextPage!: boolean;

  @Field(() => Boolean, { simple: true, description: 'Whether `after` was given.' })
  readonly hasPreviousPage!: boolean;

  @Field(() => String, {
    nullable: true,
    simple: true,
    description: 'Cursor of the first node; null if the page is empty.',
  })
  readonly startCursor!: string | null;

  @Field(() => String, {
    nullable: true,
    simple: true,
    description:
      'Cursor of the last node, or of the last entry that a filtered list has read. Pass it as `after` to get the ' +
      'next page. Null if nothing was read.',
  })
  readonly endCursor!: string | null;
}

const defaultFirst = 50;
const maxFirst = 100;

@ArgsType()
export class PageArgs {
  @Field(() => Int, {
    nullable: true,
    defaultValue: defaultFirst,
    description: `Page size, 1–${maxFirst} (up to 1000 for \`Device.readings\`). Default ${defaultFirst}.`,
  })
  readonly first?: number | null;

  @Field(() => String, { nullable: true, description: 'The `endCursor` of the previous page.' })
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
  @ObjectType(`${name}Edge`, { description: `One ${name} of a page, with its cursor.` })
  class EdgeType {
    @Field(() => String, {
      simple: true,
      description: 'Pass it as `after` to get the page that begins after this node.',
    })
    readonly cursor!: string;

    @Field(node, { simple: true, description: `The ${name} itself.` })
    readonly node!: T;
  }
  @ObjectType(`${name}Connection`, { description: `A page of a list of ${name}.` })
  class ConnectionType {
    @Field(() => [EdgeType], { simple: true, description: 'The nodes of this page with their cursors.' })
    readonly edges!: EdgeType[];

    @Field(() => [node()], { simple: true, description: 'The nodes of this page.' })
    readonly nodes!: T[];

    @Field(() => PageInfo, { simple: true, description: 'Whether there are more pages.' })
    readonly pageInfo!: PageInfo;
  }
  return ConnectionType as unknown as ClassType<Connection<T>>;
}

/** The list that cursors are sealed for. A cursor of another tenant or of another field is not accepted. */
export interface Listing {
  readonly cursors: Sealer;
  readonly tenant: string;
  readonly field: string;
  /** Maximum page size. Default 100. */
  readonly max?: number;
}

/** The rows of a list that reads a bounded number of entries per page, whatever its filter finds. */
export interface BoundedRows<T> {
  readonly rows: readonly T[];
  /** Present if the bound was reached: the position to continue after. */
  readonly next?: string;
}

/**
 * One page, forward. `fetch` gets a limit of one row more than the page size, to know whether there is another page.
 * `position` is the content of a cursor.
 */
export async function paginate<T>(
  { first, after }: PageArgs,
  { cursors, tenant, field, max = maxFirst }: Listing,
  position: (row: T) => string,
  fetch: (limit: number, after: string | undefined) => Promise<readonly T[] | BoundedRows<T>>,
): Promise<Connection<T>> {
  const pageSize = first ?? defaultFirst;
  if (!Number.isInteger(pageSize) || pageSize < 1 || pageSize > max)
    throw badInput({ path: 'first', message: `must be from 1 to ${max}` });
  const context = `${tenant} ${field}`;
  const start = typeof after === 'string' ? cursors.open(context, after) : undefined;
  if (typeof after === 'string' && start === undefined)
    throw badInput({ path: 'after', message: 'must be a cursor returned by this field' });
  const fetched = await fetch(pageSize + 1, start);
  const { rows, next }: BoundedRows<T> = 'rows' in fetched ? fetched : { rows: fetched };
  return connectionOf(rows, {
    pageSize,
    hasPreviousPage: start !== undefined,
    cursorOf: (row) => cursors.seal(context, position(row)),
    ...(next === undefined ? {} : { next: () => cursors.seal(context, next) }),
  });
}

interface ConnectionOptions<T> {
  readonly pageSize: number;
  readonly hasPreviousPage: boolean;
  readonly cursorOf: (row: T) => string;
  /** Present if the list has read a bounded number of entries: the cursor to continue after. */
  readonly next?: () => string;
}

/** A cursor is sealed when it is read, because most operations read none or one of a page. */
function connectionOf<T>(
  rows: readonly T[],
  { pageSize, hasPreviousPage, cursorOf, next }: ConnectionOptions<T>,
): Connection<T> {
  const isFull = rows.length > pageSize;
  const nodes = rows.slice(0, pageSize);
  const edgeOf = (node: T): Edge<T> => ({
    node,
    get cursor() {
      return cursorOf(node);
    },
  });
  return {
    nodes,
    get edges() {
      return nodes.map(edgeOf);
    },
    pageInfo: {
      hasNextPage: isFull || next !== undefined,
      hasPreviousPage,
      get startCursor() {
        return nodes.length > 0 ? cursorOf(nodes[0] as T) : null;
      },
      get endCursor() {
        if (!isFull && next) return next();
        return nodes.length > 0 ? cursorOf(nodes.at(-1) as T) : null;
      },
    },
  };
}
