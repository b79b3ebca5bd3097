import fc from 'fast-check';
import { classify, StoreUnavailable } from '../../../src/dynamo/faults.js';

describe('classify', () => {
  const decode = (item: unknown) => ({ decoded: JSON.stringify(item) });
  const shaped = (name: string, more: object = {}) => Object.assign(new Error('m'), { name, ...more });
  const client = { $fault: 'client' };
  const server = { $fault: 'server' };
  const item = { PK: { S: 'a' } };
  const old = { decoded: '{"PK":{"S":"a"}}' };

  it.each<[string, unknown, object]>([
    ['a failed condition', shaped('ConditionalCheckFailedException', client), { kind: 'condition' }],
    [
      'a failed condition with the old item',
      shaped('ConditionalCheckFailedException', { ...client, Item: item }),
      { kind: 'condition', old },
    ],
    [
      'provisioned throughput exceeded',
      shaped('ProvisionedThroughputExceededException', client),
      { kind: 'throttled' },
    ],
    ['throttling', shaped('ThrottlingException', client), { kind: 'throttled' }],
    ['the request limit', shaped('RequestLimitExceeded', client), { kind: 'throttled' }],
    ['a conflict with a transaction', shaped('TransactionConflictException', client), { kind: 'conflict' }],
    [
      'a refused connection',
      Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:1'), { code: 'ECONNREFUSED' }),
      { kind: 'refused' },
    ],
    [
      'refused connections to every address',
      Object.assign(new AggregateError([]), { code: 'ECONNREFUSED' }),
      { kind: 'refused' },
    ],
    ['an unknown host', Object.assign(new Error('getaddrinfo'), { code: 'ENOTFOUND' }), { kind: 'refused' }],
    ['a DNS failure', Object.assign(new Error('getaddrinfo'), { code: 'EAI_AGAIN' }), { kind: 'refused' }],
    ['an unreachable host', Object.assign(new Error('connect'), { code: 'EHOSTUNREACH' }), { kind: 'refused' }],
    ['an unreachable network', Object.assign(new Error('connect'), { code: 'ENETUNREACH' }), { kind: 'refused' }],
    ['credentials that cannot be loaded', shaped('CredentialsProviderError'), { kind: 'refused' }],
    ['expired credentials', shaped('ExpiredTokenException', client), { kind: 'refused' }],
    ['a signature with a wrong time or key', shaped('InvalidSignatureException', client), { kind: 'refused' }],
    ['unknown credentials', shaped('UnrecognizedClientException', client), { kind: 'refused' }],
    [
      'a connect timeout',
      Object.assign(
        new Error(
          '@smithy/node-http-handler - the request socket did not establish a connection with the server ' +
            'within the configured timeout of 300 ms.',
        ),
        { name: 'TimeoutError' },
      ),
      { kind: 'refused' },
    ],
    ['a reset connection', shaped('TimeoutError', { code: 'ECONNRESET' }), { kind: 'unknown' }],
    [
      'a reset connection that is not named TimeoutError',
      Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' }),
      { kind: 'unknown' },
    ],
    ['a broken pipe', shaped('TimeoutError', { code: 'EPIPE' }), { kind: 'unknown' }],
    ['a request timeout', shaped('TimeoutError'), { kind: 'unknown' }],
    ['a request timeout marked as a client fault', shaped('TimeoutError', client), { kind: 'unknown' }],
    ['a timeout reported by the server', shaped('RequestTimeout', client), { kind: 'unknown' }],
    ['a 500', shaped('InternalServerError', { ...server, $metadata: { httpStatusCode: 500 } }), { kind: 'unknown' }],
    ['a 503', shaped('ServiceUnavailable', { ...server, $metadata: { httpStatusCode: 503 } }), { kind: 'unknown' }],
    ['a response that is not JSON', new SyntaxError('Unexpected token < in JSON'), { kind: 'unknown' }],
    ['a validation error', shaped('ValidationException', client), { kind: 'bug' }],
    ['a missing table', shaped('ResourceNotFoundException', client), { kind: 'bug' }],
    [
      'a request token used for another transaction',
      shaped('IdempotentParameterMismatchException', client),
      { kind: 'bug' },
    ],
    ['a missing permission', shaped('AccessDeniedException', client), { kind: 'bug' }],
    ['undefined', undefined, { kind: 'unknown' }],
    ['null', null, { kind: 'unknown' }],
    ['a string', 'boom', { kind: 'unknown' }],
  ])('classifies %s', (_, error, fault) => {
    expect(classify(error, decode)).toEqual(fault);
  });

  it('returns one reason per write of a cancelled transaction, in order', () => {
    const error = shaped('TransactionCanceledException', {
      ...client,
      CancellationReasons: [
        { Code: 'None' },
        { Code: 'ConditionalCheckFailed', Item: item, Message: 'The conditional request failed' },
        { Code: 'ConditionalCheckFailed' },
        { Code: 'TransactionConflict' },
        { Code: 'ProvisionedThroughputExceeded' },
        { Code: 'ThrottlingError' },
        {},
      ],
    });
    expect(classify(error, decode)).toEqual({
      kind: 'cancelled',
      reasons: [
        { kind: 'none' },
        { kind: 'condition', old },
        { kind: 'condition' },
        { kind: 'conflict' },
        { kind: 'throttled' },
        { kind: 'throttled' },
        { kind: 'none' },
      ],
    });
  });

  it('classifies a cancelled transaction without reasons as cancelled', () => {
    expect(classify(shaped('TransactionCanceledException', client), decode)).toEqual({
      kind: 'cancelled',
      reasons: [],
    });
  });

  it.each(['ValidationError', 'ItemCollectionSizeLimitExceeded'])(
    'throws if a transaction was cancelled by %s, because that is a bug of this program',
    (Code) => {
      const error = shaped('TransactionCanceledException', {
        ...client,
        CancellationReasons: [{ Code: 'None' }, { Code }],
      });
      expect(() => classify(error, decode)).toThrow(Code);
    },
  );

  it('classifies no other error as a failed condition', () => {
    fc.assert(
      fc.property(fc.string(), fc.constantFrom('client', 'server', undefined), fc.string(), (name, $fault, message) => {
        fc.pre(name !== 'ConditionalCheckFailedException' && name !== 'TransactionCanceledException');
        return !['condition', 'cancelled'].includes(classify({ name, $fault, message }, decode).kind);
      }),
    );
  });
});

describe('StoreUnavailable', () => {
  it('says whether the change may have been applied, is retryable and keeps its cause', () => {
    const cause = new Error('socket');
    expect(new StoreUnavailable('no', { cause })).toMatchObject({
      message: expect.stringContaining('nothing was changed'),
      cause,
    });
    expect(new StoreUnavailable('read', { cause }).message).not.toMatch(/change/);
    expect(new StoreUnavailable('unknown', { cause })).toMatchObject({
      message: expect.stringContaining('may or may not'),
      extensions: { code: 'SERVICE_UNAVAILABLE', retryable: true },
    });
  });
});
