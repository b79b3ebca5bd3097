// Objects of the API as inputs of the GraphQL schema. Undefined fields are left out of JSON.
import type { AdmitRequest, Amounts, CostInput, Estimate, LimitAmounts, Settlement, Usage } from './types.js';

type Wire = Readonly<Record<string, unknown>>;

/** `{ rpm: 1 }` as `[{ limit: 'rpm', amount: 1 }]`. */
export const consumeOf = (amounts: Amounts): readonly { readonly limit: string; readonly amount: number }[] =>
  Object.entries(amounts).map(([limit, amount]) => ({ limit, amount }));

const componentsOf = (amounts: Amounts | undefined): readonly Wire[] | undefined =>
  amounts && Object.entries(amounts).map(([name, quantity]) => ({ name, quantity }));

const dimensionsOf = (dimensions: Readonly<Record<string, string>> | undefined): readonly Wire[] | undefined =>
  dimensions && Object.entries(dimensions).map(([name, value]) => ({ name, value }));

const bucketsOf = (limits: readonly LimitAmounts[] | undefined, name: 'consume' | 'consumed') =>
  limits?.map(({ entityId, resource, consume }): Wire => ({ entityId, resource, [name]: consumeOf(consume) }));

export const admitInput = (request: AdmitRequest, requestId: string): Wire => {
  const { signal: _, dimensions: __, estimate, limits, ...rest } = request;
  const components = componentsOf(estimate.components);
  return { ...rest, requestId, estimate: { ...estimate, components }, limits: bucketsOf(limits, 'consume') };
};

const usageInput = ({ inputTokens = 0, outputTokens = 0, components, costUsdMicros }: Usage): Wire => ({
  inputTokens,
  outputTokens,
  components: componentsOf(components),
  costUsdMicros,
});

export const settleInput = (
  admissionId: string,
  settlement: Settlement,
  dimensions: AdmitRequest['dimensions'],
): Wire => ({
  admissionId,
  ...usageInput(settlement),
  callStatus: settlement.status,
  dimensions: dimensionsOf(dimensions),
  adjust: bucketsOf(settlement.adjust, 'consumed'),
  estimated: settlement.estimated,
});

export const costInput = (cost: CostInput, requestId: string): Wire => {
  const { orgId, appId, modelLabel, status: callStatus, occurredAt } = cost;
  const dimensions = dimensionsOf(cost.dimensions);
  return { orgId, appId, requestId, modelLabel, ...usageInput(cost), callStatus, occurredAt, dimensions };
};

/** What a call is assumed to have used if its process died: all of its estimate. */
export const wholeOf = ({ maxOutputTokens: outputTokens, ...rest }: Estimate): Settlement => ({
  ...rest,
  outputTokens,
  status: 'ERROR',
  estimated: true,
});

/** What a failed call is assumed to have used if it told nothing: its input. */
export const inputOf = (estimate: Estimate): Settlement => ({ ...wholeOf(estimate), outputTokens: 0 });
