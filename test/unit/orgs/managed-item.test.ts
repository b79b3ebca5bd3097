import {
  isRemoval,
  type ManagedItemRequest,
  managedIssues,
  maxDocumentChars,
  maxItemsPerCall,
} from '../../../src/orgs/managed-item.js';

const item = (overrides: Partial<ManagedItemRequest> = {}): ManagedItemRequest => ({
  item: 'app:chat',
  document: '{}',
  version: 1,
  ...overrides,
});
const pathsOf = (manager: string, items: readonly ManagedItemRequest[]): string[] =>
  managedIssues(manager, items).map(({ path }) => path);

describe('managedIssues', () => {
  it.each(['limits:entity:a%3Ab:gpt-4%2Feu', 'org', 'price:premium', `a${'x'.repeat(511)}`])('accepts %s', (name) => {
    expect(pathsOf('tollgate.yaml', [item({ item: name })])).toEqual([]);
  });

  it.each(['', 'App:x', 'app#x', 'app x', 'app:\u0000', `a${'x'.repeat(512)}`])('refuses the item %j', (name) => {
    expect(pathsOf('m', [item({ item: name })])).toEqual(['input.items.0.item']);
  });

  it.each(['', '-x', 'a b', 'x'.repeat(65), 'a#b'])('refuses the manager %j', (manager) => {
    expect(pathsOf(manager, [item()])).toEqual(['input.manager']);
  });

  it('bounds the number of items and the length of documents', () => {
    const items = (count: number) => Array.from({ length: count }, (_, i) => item({ item: `app:${i}` }));
    expect(pathsOf('m', items(maxItemsPerCall))).toEqual([]);
    expect(pathsOf('m', items(maxItemsPerCall + 1))).toEqual(['input.items']);
    expect(pathsOf('m', [])).toEqual(['input.items']);
    const long = 'x'.repeat(maxDocumentChars + 1);
    expect(pathsOf('m', [item({ document: long.slice(1) })])).toEqual([]);
    expect(pathsOf('m', [item({ document: long, intent: long })])).toEqual([
      'input.items.0.document',
      'input.items.0.intent',
    ]);
  });

  it('refuses an item twice, and a document without its version', () => {
    expect(pathsOf('m', [item(), item()])).toEqual(['input.items.1.item']);
    expect(pathsOf('m', [item({ version: null })])).toEqual(['input.items.0.version']);
    expect(pathsOf('m', [item({ document: null })])).toEqual(['input.items.0.version']);
    expect(pathsOf('m', [item({ version: -1 })])).toEqual(['input.items.0.version']);
  });

  it('deletes a record without document and intent', () => {
    expect(isRemoval({ item: 'org' })).toBe(true);
    expect(isRemoval({ item: 'org', intent: '{}' })).toBe(false);
    expect(isRemoval(item())).toBe(false);
  });
});
