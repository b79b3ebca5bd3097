import { useState } from 'preact/hooks';
import { useQuery } from '../../data/client.js';
import { OverviewDetailDocument, type OverviewDetailQueryVariables } from '../../gql/graphql.js';
import { useOrg } from '../../shell/context.js';
import type { OrgOverview } from './quotas.js';

/** These figures read more than the others, so they are read less often. */
const detailPollMs = 2 * 60_000;
/** As many limits as the document asks for at once. */
export const maxPairs = 6;
/** A forecast reads four weeks of totals, so a long list of budgets is shown without. */
const maxForecasts = 10;

export interface Pair {
  readonly resource: string;
  readonly limit: string;
}

export const pairName = ({ resource, limit }: Pair): string => `${resource} · ${limit}`;

/** The variables that switch one part of the document on per pair. */
const pairVariables = (pairs: readonly Pair[]): Partial<OverviewDetailQueryVariables> =>
  Object.fromEntries(
    pairs.flatMap(({ resource, limit }, i) => [
      [`r${i}`, resource],
      [`l${i}`, limit],
      [`on${i}`, true],
    ]),
  );

/** The refusals of the chosen limits and the forecasts of the budgets: one operation. */
export function useDetail({ limitConfigs, budgets }: OrgOverview) {
  const { orgId } = useOrg();
  const [chosen, setChosen] = useState('');
  const pairs = limitConfigs.flatMap(({ resource, limits }) =>
    resource === null ? [] : limits.map(({ name }) => ({ resource, limit: name })),
  );
  const shown = pairs.filter((pair) => chosen === '' || pairName(pair) === chosen).slice(0, maxPairs);
  const forecast = budgets.length > 0 && budgets.length <= maxForecasts;
  const variables: OverviewDetailQueryVariables = { orgId, forecast, ...pairVariables(shown) };
  const query = useQuery(OverviewDetailDocument, variables, {
    enabled: forecast || shown.length > 0,
    pollMs: detailPollMs,
    keepPrevious: true,
  });
  return { query, pairs, shown, chosen, setChosen };
}

export type Detail = ReturnType<typeof useDetail>;
