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
