import { GraphQLError, GraphQLScalarType, Kind, type ValueNode } from 'graphql';
import { GraphQLDateTimeISO, GraphQLSafeInt } from 'graphql-scalars';
import { uuidPattern } from '../identity/client-id.js';
import { isDate, isTimeZone } from '../spend/calendar.js';

const renamed = (scalar: GraphQLScalarType, name: string, description: string): GraphQLScalarType =>
  new GraphQLScalarType({ ...scalar.toConfig(), name, description, specifiedByURL: null });

/** A scalar that is a string on the wire and inside. Only input is parsed: an answer holds what was validated when it was stored. */
function textScalar(name: string, description: string, parse: (text: string) => string | undefined): GraphQLScalarType<string, string> {
  const read = (value: unknown): string => {
    const parsed = typeof value === 'string' ? parse(value) : undefined;
    if (parsed === undefined) throw new GraphQLError(`not a ${name}: ${JSON.stringify(value)?.slice(0, 80)}`);
    return parsed;
  };
  return new GraphQLScalarType({
    name,
    description,
    serialize: String,
    parseValue: read,
    parseLiteral: (node: ValueNode) => read(node.kind === Kind.STRING ? node.value : undefined),
  });
}

const maxLiteralDepth = 8;

/** The value of a literal in a document; null for what lies deeper than any field uses. */
function jsonIn(node: ValueNode, variables: Readonly<Record<string, unknown>> | null | undefined, depth = 1): unknown {
  if (depth > maxLiteralDepth) return null;
  switch (node.kind) {
    case Kind.OBJECT:
      // Without a prototype, so that a field called `__proto__` is a field like any other.
      return Object.assign(Object.create(null), Object.fromEntries(node.fields.map(({ name, value }) => [name.value, jsonIn(value, variables, depth + 1)])));
    case Kind.LIST:
      return node.values.map((value) => jsonIn(value, variables, depth + 1));
    case Kind.VARIABLE:
      return variables?.[node.name.value];
    case Kind.NULL:
      return null;
    case Kind.INT:
    case Kind.FLOAT:
      return Number(node.value);
    default:
      return node.value;
  }
}

/** Variables arrive as parsed JSON, whose size the request's body bounds. A field that takes JSON must not recurse into it. */
export const Json = new GraphQLScalarType({
  name: 'JSON',
  description: 'Any JSON value.',
  serialize: (value) => value,
  parseValue: (value) => value,
  parseLiteral: (node, variables) => jsonIn(node, variables),
});
export const DateTime = renamed(GraphQLDateTimeISO, 'DateTime', 'RFC 3339 instant, UTC.');
export const LocalDate = textScalar('LocalDate', "Calendar day in the org's time zone, YYYY-MM-DD, from 1970-01-01 to 9999-12-30.", (text) =>
  isDate(text) ? text : undefined,
);
export const SafeInt = renamed(GraphQLSafeInt, 'SafeInt', 'Whole number up to 2^53-1, sent as a JSON number.');
export const TimeZone = textScalar('TimeZone', 'IANA time zone name, such as `Europe/Berlin` or `UTC`. Offsets such as `+02:00` are refused.', (text) =>
  isTimeZone(text) ? text : undefined,
);
export const Uuid = textScalar('UUID', 'Accepted in either case, answered in lower case: the same id either way.', (text) => {
  const lower = text.toLowerCase();
  return uuidPattern.test(lower) ? lower : undefined;
});
