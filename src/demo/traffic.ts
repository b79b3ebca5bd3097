import type { DemoHour } from './history.js';
import type { SeededRandom } from './random.js';

type Range = readonly [min: number, max: number];

/** An app of the demo org and its traffic. */
export interface AppProfile {
  readonly appId: string;
  readonly name: string;
  /** Model calls of a weekday at the beginning of the history. */
  readonly callsPerDay: number;
  /** The part of `callsPerDay` that a day of the weekend has. */
  readonly weekend: number;
  /** The relative load of each hour of the day. */
  readonly curve: readonly number[];
  readonly inputTokens: Range;
  readonly outputTokens: Range;
  readonly features: readonly string[];
  /** How much larger than the usual spend at the end of the history its quotas are. */
  readonly quotaMargin: number;
}

export interface PlannedCall {
  readonly occurredAtMs: number;
  /** True: the app asks which model to call. False: a simple call that always uses the last model of the chain. */
  readonly isMain: boolean;
  readonly isError: boolean;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly dimensions: readonly { readonly name: string; readonly value: string }[];
}

export const dimensionNames = ['customer', 'feature'];
const customers = ['acme', 'bluebird', 'cedar', 'delta', 'ember', 'fjord'];

/** Load per hour of an office day, of a website, and of a nightly job. */
export const curves = {
  office: [2, 1, 1, 1, 1, 2, 6, 18, 48, 82, 96, 100, 84, 92, 100, 94, 84, 62, 38, 26, 18, 12, 8, 4],
  website: [30, 22, 16, 13, 13, 17, 28, 42, 58, 70, 78, 84, 88, 86, 84, 82, 82, 86, 94, 100, 96, 80, 60, 42],
  nightly: [0, 60, 100, 90, 30, 0, 0, 0, 0, 4, 6, 4, 0, 4, 6, 6, 4, 2, 0, 0, 0, 0, 0, 0],
} as const;

export const appProfiles: readonly AppProfile[] = [
  {
    appId: 'support-chat',
    name: 'Support chat',
    callsPerDay: 220,
    weekend: 0.4,
    curve: curves.office,
    inputTokens: [1500, 9000],
    outputTokens: [150, 900],
    features: ['answer', 'summary', 'handover'],
    quotaMargin: 1.5,
  },
  {
    appId: 'search',
    name: 'Semantic search',
    callsPerDay: 180,
    weekend: 0.7,
    curve: curves.website,
    inputTokens: [400, 2500],
    outputTokens: [50, 250],
    features: ['query', 'rerank'],
    quotaMargin: 1.15,
  },
  {
    appId: 'reports',
    name: 'Nightly reports',
    callsPerDay: 60,
    weekend: 0.1,
    curve: curves.nightly,
    inputTokens: [8000, 40_000],
    outputTokens: [1000, 4000],
    features: ['digest', 'forecast'],
    quotaMargin: 1.5,
  },
];

/** The traffic grows by this part from the beginning of the history to its end. */
export const growth = 0.4;
/** The part of all calls for which the app asks which model to use. */
const mainShare = 0.75;
const errorShare = 0.015;

/** On one day, a retry loop in the support chat makes this many more calls per hour. Some of them fail. */
export const incident = { appId: 'support-chat', fromHour: 13, toHour: 17, callsPerHour: 150, errorShare: 0.25 };

/** The day of the incident. Near enough to be in a chart of two weeks. */
export const incidentDaysAgo = (days: number): number => Math.min(6, days);

export const isIncident = ({ daysAgo, hourOfDay }: DemoHour, days: number): boolean =>
  daysAgo === incidentDaysAgo(days) && hourOfDay >= incident.fromHour && hourOfDay < incident.toHour;

/** The load of an hour as a part of the load of a whole weekday. */
export function loadOf(curve: readonly number[], weekend: number, hour: DemoHour): number {
  const total = curve.reduce((sum, load) => sum + load, 0);
  const load = curve[Math.min(hour.hourOfDay, curve.length - 1)] ?? 0;
  return (load / total) * (hour.isWeekend ? weekend : 1) * (1 + growth * hour.progress) * hour.share;
}

/** The calls of an app in one hour. */
export function callsOf(app: AppProfile, hour: DemoHour, days: number, random: SeededRandom): PlannedCall[] {
  const usual = random.around(app.callsPerDay * loadOf(app.curve, app.weekend, hour));
  const isHit = app.appId === incident.appId && isIncident(hour, days);
  const extra = isHit ? incident.callsPerHour : 0;
  return [
    ...Array.from({ length: usual }, () => callWithin(app, hour, random)),
    ...Array.from({ length: extra }, () => ({ ...callWithin(app, hour, random, incident.errorShare), isMain: true })),
  ];
}

/** One call of an app at any time of a span. */
export function callWithin(
  app: AppProfile,
  { fromMs, toMs }: Pick<DemoHour, 'fromMs' | 'toMs'>,
  random: SeededRandom,
  errors = errorShare,
): PlannedCall {
  const isError = random.hit(errors);
  return {
    occurredAtMs: random.between(fromMs, Math.max(fromMs, toMs - 1)),
    isMain: random.hit(mainShare),
    isError,
    inputTokens: random.between(...app.inputTokens),
    // A call that failed has no output.
    outputTokens: isError ? 0 : random.between(...app.outputTokens),
    dimensions: [
      { name: 'customer', value: random.skewed(customers) },
      { name: 'feature', value: random.skewed(app.features) },
    ],
  };
}

const meanOf = ([min, max]: Range): number => (min + max) / 2;
const quotaStep = 100_000;
/** The part of the main calls that a later model of the chain must be able to take over. */
const takeOver = 0.8;

/**
 * A daily quota, in micro-dollars, that the usual traffic at the end of the history stays below and the incident does
 * not. `position` is the place of the model in the chain.
 */
export function quotaFor(
  app: AppProfile,
  position: number,
  price: { readonly inputUsdMicrosPer1M: number; readonly outputUsdMicrosPer1M: number },
): number {
  const perCall =
    (meanOf(app.inputTokens) * price.inputUsdMicrosPer1M + meanOf(app.outputTokens) * price.outputUsdMicrosPer1M) / 1e6;
  const calls = app.callsPerDay * (1 + growth);
  const share = position === 0 ? mainShare : 1 - mainShare + mainShare * takeOver;
  return Math.max(1, Math.ceil((app.quotaMargin * calls * share * perCall) / quotaStep)) * quotaStep;
}

const budgetStep = 1_000_000;
/** The part of the quotas of the first model that a day without an incident stays below. */
const budgetShare = 0.8;

/** A daily budget of the org, in micro-dollars. `quotas` is the sum of the quotas of the apps for the first model. */
export const budgetFor = (quotas: number): number =>
  Math.max(1, Math.round((quotas * budgetShare) / budgetStep)) * budgetStep;
