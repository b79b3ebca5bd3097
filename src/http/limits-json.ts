import {
  coerceInputValue,
  type GraphQLField,
  GraphQLInputObjectType,
  type GraphQLOutputType,
  type GraphQLSchema,
  isInputObjectType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
} from 'graphql';
import { bounds } from '../graphql/bounds.js';
import { type PublicError, withoutValue } from '../graphql/errors.js';
import { badInput, GatewayError, type Issue } from '../lib/errors.js';
import { HttpRefusal, isRecord } from './request.js';

const maxIssues = 20;

/** The type of a body: the `input` argument of a GraphQL field, or all its arguments if it has none. */
export function bodyType({ name, args }: GraphQLField<unknown, unknown>): GraphQLInputObjectType {
  const [only, ...others] = args;
  const type = only && others.length === 0 && isNonNullType(only.type) ? only.type.ofType : undefined;
  if (isInputObjectType(type)) return type;
  return new GraphQLInputObjectType({
    name: `${name}Body`,
    fields: Object.fromEntries(
      args.map((argument) => [argument.name, { type: argument.type, defaultValue: argument.defaultValue }]),
    ),
  });
}

/** The body, checked and coerced by its GraphQL type. Throws BAD_USER_INPUT that names every invalid field. */
export function readInput(type: GraphQLInputObjectType, body: unknown): unknown {
  if (!isRecord(body)) throw new HttpRefusal(400, 'the body must be a JSON object');
  const given = Object.fromEntries(
    Object.entries(body).map(([name, value]) => [name, amountLists.has(name) ? amountList(value) : value]),
  );
  const tooLong = Object.entries(given).flatMap(([path, value]) =>
    Array.isArray(value) && value.length > bounds.listItems
      ? [{ path, message: `has ${value.length} items; the maximum is ${bounds.listItems}` }]
      : [],
  );
  if (tooLong.length > 0) throw badInput(...tooLong);
  const issues: Issue[] = [];
  const input = coerceInputValue(
    given,
    type,
    (path, _value, { message }) => {
      issues.push({ path: path.join('.') || 'body', message: withoutValue(message) });
      if (issues.length >= maxIssues) throw badInput(...issues);
    },
    true,
  );
  if (issues.length > 0) throw badInput(...issues);
  return input;
}

const amountLists = new Set(['consume', 'adjust']);

/**
 * `{"rpm": 1}` is short for `[{"limit": "rpm", "amount": 1}]`. An object with a `limit` is a list of one item, as in
 * GraphQL.
 */
function amountList(value: unknown): unknown {
  if (!isRecord(value) || typeof value.limit === 'string') return value;
  return Object.entries(value).map(([limit, amount]) => ({ limit, amount }));
}

/** The error with the paths of a body: services name fields by their GraphQL path, which begins with `input`. */
export function inBody(error: unknown): unknown {
  const issues =
    error instanceof GatewayError && !(error instanceof HttpRefusal)
      ? (error.extensions.issues as readonly Issue[] | undefined)
      : undefined;
  return issues
    ? badInput(...issues.map(({ path, message }) => ({ path: path.replace(/^input\./, ''), message })))
    : error;
}

/** Every field of a GraphQL type as JSON. The `kind` of a union's value names its type. */
export function outputJson(schema: GraphQLSchema, type: GraphQLOutputType, value: unknown): unknown {
  if (isNonNullType(type)) return outputJson(schema, type.ofType, value);
  if (value === undefined || value === null) return null;
  if (isListType(type)) return (value as readonly unknown[]).map((item) => outputJson(schema, type.ofType, item));
  if (isLeafType(type)) return type.serialize(value);
  const source = value as Readonly<Record<string, unknown>>;
  const object = isObjectType(type) ? type : schema.getType(source.kind as string);
  if (!isObjectType(object)) throw new Error(`${type.name} has no JSON form`);
  return Object.fromEntries(
    Object.values(object.getFields()).map((field) => [field.name, outputJson(schema, field.type, source[field.name])]),
  );
}

/** The extensions of a GraphQL error, beside its message. */
export const errorBody = ({ message, extensions: { code, ...details } }: PublicError): string =>
  JSON.stringify({ error: { code, message, ...details } });
