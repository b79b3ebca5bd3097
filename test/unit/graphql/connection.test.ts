import fc from 'fast-check';
import { type Listing, paginate } from '../../../src/graphql/connection.js';
import { RootKeys, Sealer } from '../../../src/lib/seal.js';

describe('paginate', () => {
  const listing: Listing = {
    cursors: new Sealer(new RootKeys(['root'], 'cursors')),
    tenant: 'org-1',
    field: 'Org.apps',
  };
  const source = (rows: readonly string[]) => async (limit: number, after: string | undefined) =>
    rows.slice(after === undefined ? 0 : rows.indexOf(after) + 1).slice(0, limit);
  const page = (
    rows: readonly string[],
    first: number | null | undefined,
    after?: string | null,
    list: Listing = listing,
  ) =>
    paginate(
      { ...(first === undefined ? {} : { first }), ...(after === undefined ? {} : { after }) },
      list,
      (row: string) => row,
      source(rows),
    );
  const rowsOf = fc.uniqueArray(fc.string({ unit: 'grapheme' }), { maxLength: 60 });

  it('returns pages that add up to the list, none too long, and none empty except for an empty list', async () => {
    await fc.assert(
      fc.asyncProperty(rowsOf, fc.integer({ min: 1, max: 100 }), async (rows, first) => {
        const seen: string[] = [];
        let after: string | null = null;
        for (let pages = 0; ; pages++) {
          const { nodes, edges, pageInfo } = await page(rows, first, after);
          seen.push(...nodes);
          expect(nodes.length).toBeLessThanOrEqual(first);
          expect(nodes.length > 0 || rows.length === 0).toBe(true);
          expect(edges.map(({ node }) => node)).toEqual(nodes);
          expect(pageInfo.hasPreviousPage).toBe(pages > 0);
          expect(pageInfo.startCursor).toBe(edges[0]?.cursor ?? null);
          expect(pageInfo.endCursor).toBe(edges.at(-1)?.cursor ?? null);
          if (!pageInfo.hasNextPage) break;
          expect(nodes).toHaveLength(first);
          after = pageInfo.endCursor;
        }
        expect(seen).toEqual(rows);
      }),
    );
  });

  it('continues after the edge of any cursor, not only after the last one', async () => {
    await fc.assert(
      fc.asyncProperty(rowsOf, fc.nat(), async (rows, pick) => {
        fc.pre(rows.length > 0);
        const { edges } = await page(rows, 100);
        const at = pick % edges.length;
        expect((await page(rows, 100, edges[at]?.cursor)).nodes).toEqual(rows.slice(at + 1));
      }),
    );
  });

  it('fetches one row more than the page size, which is 50 by default', async () => {
    const limits: number[] = [];
    const fetch = async (limit: number) => {
      limits.push(limit);
      return [];
    };
    for (const first of [1, 100, undefined, null])
      await paginate(first === undefined ? {} : { first }, listing, String, fetch);
    expect(limits).toEqual([2, 101, 51, 51]);
  });

  it.each([0, -1, 101, 1.5, Number.NaN])('refuses a first of %p', async (first) => {
    await expect(page(['a'], first)).rejects.toMatchObject({
      code: 'BAD_USER_INPUT',
      extensions: { issues: [{ path: 'first' }] },
    });
  });

  it('refuses the cursors of another tenant, field or deployment, edited cursors and junk', async () => {
    const own = (await page(['a', 'b'], 1)).pageInfo.endCursor as string;
    expect((await page(['a', 'b'], 1, own)).nodes).toEqual(['b']);
    const foreign = await Promise.all(
      [
        { ...listing, tenant: 'org-2' },
        { ...listing, field: 'Org.audit' },
        { ...listing, cursors: new Sealer(new RootKeys(['root'], 'other')) },
      ].map(async (list) => (await page(['a', 'b'], 1, undefined, list)).pageInfo.endCursor as string),
    );
    for (const after of [...foreign, `${own}A`, own.slice(1), `${own}=`, 'junk', ' ']) {
      await expect(page(['a', 'b'], 1, after)).rejects.toMatchObject({
        code: 'BAD_USER_INPUT',
        extensions: { issues: [{ path: 'after' }] },
      });
    }
  });
});
