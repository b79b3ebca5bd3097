import { GraphQLError, GraphQLScalarType, Kind, type ValueNode } from 'graphql';
import { GraphQLDateTimeISO, GraphQLSafeInt } from 'graphql-scalars';
import { uuidPattern } from '../lib/patterns.js';
import { isDate, isTimeZone } from '../orgs/calendar.js';

/** Where the format of each scalar is specified. */
const specifications = {
  DateTime: 'https://scalars.graphql.org/andimarek/date-time',
  LocalDate: 'https://scalars.graphql.org/andimarek/local-date',
  SafeInt: 'https://www.ecma-international.org/ecma-262/#sec-number.issafeinteger',
  TimeZone: 'https://www.iana.org/time-zones',
  UUID: 'https://www.rfc-editor.org/rfc/rfc9562',
} as const;
type ScalarName = keyof typeof specifications;

const renamed = (scalar: GraphQLScalarType, name: ScalarName, description: string): GraphQLScalarType =>
  new GraphQLScalarType({ ...scalar.toConfig(), name, description, specifiedByURL: specifications[name] });

/** A scalar that is a string. Only input is parsed, because stored values were validated when they were written. */
function textScalar(
  name: ScalarName,
  description: string,
  parse: (text: string) => string | undefined,
): GraphQLScalarType<string, string> {
  const read = (value: unknown): string => {
    const parsed = typeof value === 'string' ? parse(value) : undefined;
    if (parsed === undefined) throw new GraphQLError(`not a ${name}: ${JSON.stringify(value)?.slice(0, 80)}`);
    return parsed;
  };
  return new GraphQLScalarType({
    name,
    description,
    specifiedByURL: specifications[name],
    serialize: String,
    parseValue: read,
    parseLiteral: (node: ValueNode) => read(node.kind === Kind.STRING ? node.value : undefined),
  });
}

const maxLiteralDepth = 8;

/** The value of a literal in a document. Values nested deeper than any field needs become null. */
function jsonIn(node: ValueNode, variables: Readonly<Record<string, unknown>> | null | undefined, depth = 1): unknown {
  if (depth > maxLiteralDepth) return null;
  switch (node.kind) {
    case Kind.OBJECT:
      // Without a prototype, so that `__proto__` is an ordinary field.
      return Object.assign(
        Object.create(null),
        Object.fromEntries(node.fields.map(({ name, value }) => [name.value, jsonIn(value, variables, depth + 1)])),
      );
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

/**
 * Variables arrive as parsed JSON; the size of the body bounds them. A field that takes JSON must not recurse into it.
 */
export const Json = new GraphQLScalarType({
  name: 'JSON',
  description: 'Any JSON value.',
  specifiedByURL: 'https://www.rfc-editor.org/rfc/rfc8259',
  serialize: (value) => value,
  parseValue: (value) => value,
  parseLiteral: (node, variables) => jsonIn(node, variables),
});
export const DateTime = renamed(
  GraphQLDateTimeISO,
  'DateTime',
  'A moment in time as RFC 3339, returned in UTC with milliseconds.',
);
export const LocalDate = textScalar(
  'LocalDate',
  'A calendar day in the time zone of the org, YYYY-MM-DD, from 1970-01-01 to 9999-12-30.',
  (text) => (isDate(text) ? text : undefined),
);
export const SafeInt = renamed(
  GraphQLSafeInt,
  'SafeInt',
  'A whole number from -(2^53-1) to 2^53-1, sent as a JSON number.',
);
export const TimeZone = textScalar(
  'TimeZone',
  'IANA time zone name, such as `Europe/Berlin` or `UTC`. Offsets such as `+02:00` are refused.',
  (text) => (isTimeZone(text) ? text : undefined),
);
export const Uuid = textScalar(
  'UUID',
  'UUID of any version. Accepted in upper and lower case, returned in lower case.',
  (text) => {
    const lower = text.toLowerCase();
    return uuidPattern.test(lower) ? lower : undefined;
  },
);
