import { buildSchema } from 'graphql';

/** A small schema with everything that the cost of an operation depends on. */
export const testSchema = buildSchema(`
  interface Node { id: ID! }
  type Query {
    me: Person
    org: Org
    node(id: ID!): Node
    search: [Found!]!
    list(ids: [Int!]): Int
    people(first: Int = 50): PeopleConnection
    unbounded(first: Int): PeopleConnection
    spend(consistency: Consistency = AGGREGATED): Int
  }
  type Mutation { issueToken: Int refreshToken: Int retrieveSecret: Int other: Int }
  enum Consistency { AGGREGATED EXACT }
  union Found = Person | Org
  type Org implements Node { id: ID! name: String people(first: Int = 50): PeopleConnection self: Org }
  type PeopleConnection { nodes: [Person!]! edges: [PersonEdge!]! pageInfo: PageInfo! total: Int }
  type PersonEdge { cursor: String! node: Person! }
  type PageInfo { hasNextPage: Boolean! endCursor: String }
  type Person implements Node { id: ID! name: String friend: Person friends(first: Int = 50): PeopleConnection }
`);
