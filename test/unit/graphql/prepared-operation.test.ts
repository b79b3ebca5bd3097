import { getOperationAST, parse } from 'graphql';
import { PreparedOperation } from '../../../src/graphql/prepared-operation.js';
import { WorkBudget } from '../../../src/graphql/work-budget.js';
import { GatewayError } from '../../../src/lib/errors.js';
import { testSchema } from '../../support/test-schema.js';

const prepared = (query: string): PreparedOperation => {
  const document = parse(query);
  return new PreparedOperation(testSchema, document, getOperationAST(document)!);
};
/** The extensions of the error with which an operation is refused for its cost. */
const refusal = (query: string, variables: Record<string, unknown> = {}): unknown => {
  try {
    new WorkBudget().charge(prepared(query).cost(variables));
  } catch (error) {
    return error instanceof GatewayError ? error.extensions : error;
  }
  return undefined;
};

describe('a prepared operation', () => {
  it('accepts a complexity of 10,000 and refuses one more', () => {
    expect(refusal('query ($n: Int) { people(first: $n) { nodes { name } } }', { n: 9998 })).toBeUndefined();
    expect(refusal('query ($n: Int) { people(first: $n) { nodes { name } } }', { n: 9999 })).toMatchObject({
      code: 'BAD_USER_INPUT',
      issues: [{ path: 'query', message: expect.stringContaining('complexity 10001 exceeds the maximum of 10000') }],
    });
  });

  it('refuses a list of more than 100 items in the variables at any depth', () => {
    const list = (length: number) => Array.from({ length }, (_, i) => i);
    expect(refusal('{ me { name } }', { ids: list(100) })).toBeUndefined();
    for (const variables of [{ ids: list(101) }, { input: { deep: [{ ids: list(101) }] } }]) {
      expect(refusal('{ me { name } }', variables)).toMatchObject({
        code: 'BAD_USER_INPUT',
        issues: [{ path: 'variables' }],
      });
    }
  });

  it('measures again for each set of variables if they decide the cost', () => {
    const operation = prepared('query ($n: Int) { people(first: $n) { nodes { name } } }');
    expect([operation.cost({ n: 20 }), operation.cost({ n: 3 }), operation.cost({})]).toEqual([22, 5, 52]);
  });

  it.each([
    ['{ people(first: 48) { nodes { name } } }', true],
    ['{ people(first: 47) { nodes { name } } }', false],
    ['query ($n: Int = 100) { people(first: $n) { nodes { name } } }', false],
  ])('knows before it is executed whether %s is a list with any variables', (query, isAlwaysList) => {
    expect(prepared(query).isAlwaysList).toBe(isAlwaysList);
  });

  it.each([
    ['{ me { name } }', 'me', true],
    ['{ me { name } org { name } }', 'several', true],
    ['{ a: org { name } }', 'org', true],
    ['{ ... { me { name } } }', 'several', true],
    ['mutation X { other }', 'other', false],
  ])('labels %s by its root field, never by a name of the caller', (query, label, isQuery) => {
    expect(prepared(query)).toMatchObject({ label, isQuery });
  });
});
