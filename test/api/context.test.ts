import { Authorized, Ctx, Query, Resolver } from 'type-graphql';
import type { Context } from '../../src/graphql/context.js';
import { createSchema } from '../../src/graphql/schema.js';
import type { Policy } from '../../src/identity/viewer.js';
import { startTestApp, type TestApp } from '../support/app.js';

let seen: Context | undefined;

@Resolver()
class ProbeResolver {
  @Authorized<Policy>('public')
  @Query(() => Boolean)
  probe(@Ctx() context: Context): boolean {
    seen = context;
    return true;
  }
}

let app: TestApp;
let context: Context;
beforeAll(async () => {
  app = await startTestApp({ schema: await createSchema([ProbeResolver]) });
  await app.anonymous.ask('{ probe }');
  context = seen as Context;
});
afterAll(() => app.stop());

// Not compared with `Object.prototype`, because the program has another one than the tests.
const isObjectPrototype = (value: object): boolean => Object.hasOwn(value, 'hasOwnProperty');

/** The own and inherited properties of an object. */
function propertiesOf(object: object): Map<string, unknown> {
  const properties = new Map<string, unknown>();
  for (let from: object | null = object; from && !isObjectPrototype(from); from = Object.getPrototypeOf(from))
    for (const name of Object.getOwnPropertyNames(from))
      if (!properties.has(name)) properties.set(name, (object as Record<string, unknown>)[name]);
  return properties;
}

function isPlain(value: object): boolean {
  const prototype = Object.getPrototypeOf(value) as object | null;
  return prototype === null || isObjectPrototype(prototype) || Array.isArray(value);
}

/** Everything a resolver can reach without going into the private fields of a service. */
function reachable(from: Context): Set<unknown> {
  const found = new Set<unknown>();
  const visit = (value: unknown): void => {
    if (found.has(value)) return;
    found.add(value);
    if (typeof value === 'object' && value !== null && isPlain(value))
      for (const entry of Object.values(value)) visit(entry);
  };
  for (const value of propertiesOf(from).values()) visit(value);
  for (const value of propertiesOf(from.loaders).values()) visit(value);
  return found;
}

describe('the context of a resolver', () => {
  it('has the viewer, the loaders and the services that resolvers use', () => {
    expect(context.viewer).toEqual({ kind: 'ANONYMOUS' });
    expect(context.limits).toBe(app.gateway.services.limits);
    expect(typeof context.loaders.org).toBe('function');
  });

  it.each(['config', 'store', 'tokenKeys', 'metrics', 'scheduler', 'guesses', 'changeFeed', 'buckets'] as const)(
    'does not have %s',
    (name) => {
      expect(app.gateway.services[name]).toBeDefined();
      expect(name in context).toBe(false);
    },
  );

  it('reaches no secret, no configuration and no database client', () => {
    const { config, store, tokenKeys } = app.gateway.services;
    const values = reachable(context);
    expect(values).toContain(app.gateway.services.orgs);
    for (const forbidden of [config, store, tokenKeys]) expect(values.has(forbidden)).toBe(false);
    const signingKeys = config.signingKeys.map(({ d }) => d as string);
    const secrets = [...config.rootSecrets, ...config.adminKeys.map(({ key }) => key), ...signingKeys];
    expect(secrets.length).toBeGreaterThan(2);
    const strings = [...values].filter((value) => typeof value === 'string');
    for (const secret of secrets) expect(strings.filter((text) => text.includes(secret))).toEqual([]);
  });

  it('cannot be used to replace a service', () => {
    expect(() => Object.assign(Object.getPrototypeOf(context) as object, { limits: undefined })).toThrow(TypeError);
  });
});
