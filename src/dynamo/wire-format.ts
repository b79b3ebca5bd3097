import { marshall, unmarshall } from '@aws-sdk/util-dynamodb';
import { type CallName, exactNumber } from './transport.js';

/** A JSON object of the DynamoDB API. */
export type JsonObject = Record<string, unknown>;

/** Marshals a value as the SDK does. Strings and integers, which are most values, take the short way. */
function marshalValue(value: unknown): unknown {
  if (typeof value === 'string') return { S: value };
  if (typeof value === 'bigint' || Number.isSafeInteger(value)) return { N: String(value) };
  return marshall({ value }, { removeUndefinedValues: true }).value;
}

function marshalItem(item: unknown): JsonObject {
  const stored: JsonObject = {};
  for (const [name, value] of Object.entries(item as JsonObject))
    if (value !== undefined) stored[name] = marshalValue(value);
  return stored;
}

export function unmarshalItem(stored: unknown): never {
  const item: JsonObject = {};
  for (const [name, value] of Object.entries(stored as Record<string, { S?: string; N?: string }>)) {
    if (value.S !== undefined) item[name] = value.S;
    else if (value.N !== undefined) item[name] = exactNumber(value.N);
    else item[name] = unmarshall({ value } as never, { wrapNumbers: exactNumber as never }).value;
  }
  return item as never;
}

/** Marshals the fields of a call that hold items, keys or values. */
function encodeItems(input: JsonObject): JsonObject {
  const encoded = { ...input };
  for (const name of ['Key', 'Item', 'ExpressionAttributeValues', 'ExclusiveStartKey'])
    if (input[name] !== undefined) encoded[name] = marshalItem(input[name]);
  return encoded;
}

function decodeItems(output: JsonObject): JsonObject {
  const decoded = { ...output };
  for (const name of ['Item', 'Attributes', 'LastEvaluatedKey'])
    if (output[name] !== undefined) decoded[name] = unmarshalItem(output[name]);
  if (output.Items !== undefined) decoded.Items = (output.Items as unknown[]).map(unmarshalItem);
  return decoded;
}

const mapValues = (tables: unknown, change: (value: never) => unknown): JsonObject =>
  Object.fromEntries(
    Object.entries((tables ?? {}) as JsonObject).map(([table, value]) => [table, change(value as never)]),
  );

/** How one call is written to and read from the wire. */
interface WireCall {
  readonly operation: string;
  encode(input: JsonObject): JsonObject;
  decode(output: JsonObject): JsonObject;
}

const singleItemCall = (operation: string): WireCall => ({ operation, encode: encodeItems, decode: decodeItems });

export const wireCalls: Readonly<Record<CallName, WireCall>> = {
  get: singleItemCall('GetItem'),
  put: singleItemCall('PutItem'),
  update: singleItemCall('UpdateItem'),
  delete: singleItemCall('DeleteItem'),
  query: singleItemCall('Query'),
  scan: singleItemCall('Scan'),
  transact: {
    operation: 'TransactWriteItems',
    encode: (input) => ({
      ...input,
      TransactItems: (input.TransactItems as JsonObject[]).map((item) => mapValues(item, encodeItems)),
    }),
    decode: (output) => output,
  },
  batchGet: {
    operation: 'BatchGetItem',
    encode: (input) => ({
      ...input,
      RequestItems: mapValues(input.RequestItems, (request: JsonObject) => ({
        ...request,
        Keys: (request.Keys as unknown[]).map(marshalItem),
      })),
    }),
    decode: (output) => ({
      ...output,
      Responses: mapValues(output.Responses, (items: unknown[]) => items.map(unmarshalItem)),
      UnprocessedKeys: mapValues(output.UnprocessedKeys, (request: JsonObject) => ({
        ...request,
        Keys: (request.Keys as unknown[]).map(unmarshalItem),
      })),
    }),
  },
  batchWrite: {
    operation: 'BatchWriteItem',
    encode: (input) => ({
      ...input,
      RequestItems: mapValues(input.RequestItems, (writes: JsonObject[]) =>
        writes.map((write) => mapValues(write, encodeItems)),
      ),
    }),
    decode: (output) => ({
      ...output,
      UnprocessedItems: mapValues(output.UnprocessedItems, (writes: JsonObject[]) =>
        writes.map((write) => mapValues(write, (fields: JsonObject) => mapValues(fields, unmarshalItem))),
      ),
    }),
  },
  batchStatement: {
    operation: 'BatchExecuteStatement',
    encode: (input) => ({
      ...input,
      Statements: (input.Statements as JsonObject[]).map((statement) => ({
        ...statement,
        Parameters: (statement.Parameters as unknown[]).map(marshalValue),
      })),
    }),
    decode: (output) => ({
      ...output,
      Responses: (output.Responses as JsonObject[]).map((response) =>
        response.Error === undefined
          ? decodeItems(response)
          : { ...response, Error: decodeItems(response.Error as JsonObject) },
      ),
    }),
  },
};
