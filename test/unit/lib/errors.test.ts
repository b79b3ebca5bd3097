import fc from 'fast-check';
import {
  badInput,
  errorCodes,
  GatewayError,
  notFound,
  rateLimited,
  refuseAny,
  unavailable,
  versionConflict,
} from '../../../src/lib/errors.js';

const thrownBy = (act: () => unknown): unknown => {
  try {
    act();
  } catch (error) {
    return error;
  }
  return undefined;
};

describe('errors', () => {
  it('names every issue in the message and in the extensions', () => {
    const issue = fc.record({ path: fc.string(), message: fc.string() });
    fc.assert(
      fc.property(fc.array(issue, { minLength: 1, maxLength: 10 }), (issues) => {
        for (const error of [badInput(...issues), thrownBy(() => refuseAny(issues)) as GatewayError]) {
          expect(error).toBeInstanceOf(GatewayError);
          expect(error.extensions).toEqual({ code: 'BAD_USER_INPUT', issues });
          for (const { path, message } of issues) expect(error.message).toContain(`${path}: ${message}`);
        }
      }),
    );
  });

  it('does not throw if there is no issue', () => {
    expect(() => refuseAny([])).not.toThrow();
  });

  it('keeps its code and its cause, even if the details have a code too', () => {
    const cause = new Error('below');
    for (const code of errorCodes) {
      const error = new GatewayError(code, 'm', { code: 'OTHER', extra: 1 }, { cause });
      expect(error.extensions).toEqual({ code, extra: 1 });
      expect(error.cause).toBe(cause);
    }
    expect(unavailable('later', cause)).toMatchObject({
      code: 'SERVICE_UNAVAILABLE',
      extensions: { retryable: true },
      cause,
    });
    expect(notFound('org')).toMatchObject({ code: 'NOT_FOUND', message: 'org not found' });
  });

  it.each([
    [7, 'this org has version 7 now; nothing was changed; read it again'],
    [0, 'this org does not exist, its version is 0; nothing was changed; read it again'],
  ])('says the current version %p of a version conflict', (currentVersion, message) => {
    expect(versionConflict('this org', currentVersion)).toMatchObject({
      message,
      extensions: { code: 'VERSION_CONFLICT', currentVersion },
    });
  });

  it.each([
    [0.1, 1],
    [1000, 1],
    [1000.1, 2],
    [59_999, 60],
  ])('rounds a wait of %p ms up to %p whole seconds', (ms, secs) => {
    const policy = { name: 'requests', quota: 10, windowSecs: 1 };
    expect(rateLimited('slow down', ms, policy).extensions).toEqual({
      code: 'RATE_LIMITED',
      retryAfterSecs: secs,
      policy,
    });
  });
});
