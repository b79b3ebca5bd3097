import fc from 'fast-check';
import { nodeId, parseNodeId } from '../../../src/graphql/node.js';

describe('parseNodeId', () => {
  it('returns the parts of an id', () => {
    fc.assert(
      fc.property(
        fc.string(),
        fc.array(fc.string({ unit: 'grapheme' }), { minLength: 1, maxLength: 4 }),
        (type, parts) => {
          expect(parseNodeId(nodeId(type, ...parts))).toEqual([type, ...parts]);
        },
      ),
    );
  });

  it.each([
    ['an empty text', ''],
    ['junk', 'junk!'],
    ['invalid JSON', Buffer.from('["Org"').toString('base64url')],
    ['a type without parts', Buffer.from('["Org"]').toString('base64url')],
    ['an object', Buffer.from('{"0":"Org"}').toString('base64url')],
    ['null', Buffer.from('null').toString('base64url')],
    ['a number among the parts', Buffer.from('["Org",1]').toString('base64url')],
    ['a list among the parts', Buffer.from('["Org",["a"]]').toString('base64url')],
    ['another spelling of a valid id', Buffer.from('["Org", "a"]').toString('base64url')],
    ['padding', `${nodeId('Org', 'a')}=`],
    ['a blank', `${nodeId('Org', 'a')} `],
  ])('rejects %s', (_, id) => {
    expect(parseNodeId(id)).toBeUndefined();
  });

  it('accepts only the one spelling of an id, and never throws', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const parts = parseNodeId(text);
        return parts === undefined || nodeId(...(parts as [string, ...string[]])) === text;
      }),
    );
  });
});
