import { GraphQLError, GraphQLScalarType, Kind, type ValueNode } from 'graphql';
import { GraphQLDateTimeISO, GraphQLLocalDate, GraphQLSafeInt } from 'graphql-scalars';
import { uuidPattern } from '../identity/client-id.js';
import { isTimeZone } from '../spend/calendar.js';

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

/** A scalar that is a string on the wire and inside. */
function textScalar(name: ScalarName, description: string, parse: (text: string) => string | undefined): GraphQLScalarType<string, string> {
  const read = (value: unknown): string => {
    const parsed = typeof value === 'string' ? parse(value) : undefined;
    if (parsed === undefined) throw new GraphQLError(`not a ${name}: ${JSON.stringify(value)?.slice(0, 80)}`);
    return parsed;
  };
  return new GraphQLScalarType({
    name,
    description,
    specifiedByURL: specifications[name],
    serialize: read,
    parseValue: read,
    parseLiteral: (node: ValueNode) => read(node.kind === Kind.STRING ? node.value : undefined),
  });
}

export const DateTime = renamed(GraphQLDateTimeISO, 'DateTime', 'A moment in time as RFC 3339, returned in UTC with milliseconds.');
export const LocalDate = renamed(GraphQLLocalDate, 'LocalDate', 'A calendar day in the time zone of the org, YYYY-MM-DD.');
export const SafeInt = renamed(GraphQLSafeInt, 'SafeInt', 'A whole number from -(2^53-1) to 2^53-1, sent as a JSON number.');
export const TimeZone = textScalar('TimeZone', 'The name of a time zone in the IANA database, such as Europe/Berlin.', (text) =>
  isTimeZone(text) ? text : undefined,
);
export const Uuid = textScalar('UUID', 'UUID of any version. Accepted in upper and lower case, returned in lower case.', (text) => {
  const lower = text.toLowerCase();
  return uuidPattern.test(lower) ? lower : undefined;
});
