import type { Issue } from '../../lib/errors.js';
import { entityIssues, type Limit, resourceIssues } from '../limit.js';

export const limitLevels = ['SYSTEM', 'RESOURCE', 'ENTITY_DEFAULT', 'ENTITY'] as const;
export type LimitLevel = (typeof limitLevels)[number];

export const unavailablePolicies = ['ALLOW', 'BLOCK'] as const;
export type OnUnavailable = (typeof unavailablePolicies)[number];

/** Where limits are set: each level names what it is for, and nothing else. */
export type ConfigPlace =
  | { readonly level: 'SYSTEM' }
  | { readonly level: 'RESOURCE'; readonly resource: string }
  | { readonly level: 'ENTITY_DEFAULT'; readonly entityId: string }
  | { readonly level: 'ENTITY'; readonly entityId: string; readonly resource: string };

export interface LimitConfig {
  readonly place: ConfigPlace;
  readonly limits: readonly Limit[];
  readonly onUnavailable?: OnUnavailable;
  readonly version: number;
}

/** A level as it is stored. One that was deleted keeps its version, so that no version stands for two sets of limits. */
export interface Level {
  /** 0 if nothing was ever set. */
  readonly version: number;
  /** Absent where nothing is set now. */
  readonly config?: LimitConfig;
}

export interface PlaceRequest {
  readonly level: LimitLevel;
  readonly resource?: string | null | undefined;
  readonly entityId?: string | null | undefined;
}

const needs: Readonly<Record<LimitLevel, { readonly resource: boolean; readonly entityId: boolean }>> = {
  SYSTEM: { resource: false, entityId: false },
  RESOURCE: { resource: true, entityId: false },
  ENTITY_DEFAULT: { resource: false, entityId: true },
  ENTITY: { resource: true, entityId: true },
};

export function placeIssues({ level, resource, entityId }: PlaceRequest, path: string): Issue[] {
  const judge = (
    needed: boolean,
    value: string | null | undefined,
    field: string,
    issues: (value: string, path: string) => Issue[],
  ): Issue[] => {
    const at = path + field;
    if (typeof value !== 'string') return needed ? [{ path: at, message: `is needed at level ${level}` }] : [];
    return needed ? issues(value, at) : [{ path: at, message: `has no meaning at level ${level}: leave it out` }];
  };
  return [
    ...judge(needs[level].resource, resource, 'resource', resourceIssues),
    ...judge(needs[level].entityId, entityId, 'entityId', entityIssues),
  ];
}

/** The place of a request that has no issues. */
export const placeOf = ({ level, resource, entityId }: PlaceRequest): ConfigPlace =>
  ({
    level,
    ...(needs[level].resource ? { resource } : {}),
    ...(needs[level].entityId ? { entityId } : {}),
  }) as ConfigPlace;

/** From the strongest to the weakest. */
export const placesFor = (entityId: string, resource: string): ConfigPlace[] => [
  { level: 'ENTITY', entityId, resource },
  { level: 'ENTITY_DEFAULT', entityId },
  { level: 'RESOURCE', resource },
  { level: 'SYSTEM' },
];

/** The first level that has any limits wins whole; nothing is merged. */
export function winner(configs: readonly (LimitConfig | undefined)[]): LimitConfig | undefined {
  return configs.find((config) => config !== undefined && config.limits.length > 0);
}

export const policyOf = (configs: readonly (LimitConfig | undefined)[]): OnUnavailable =>
  configs.find((config) => config?.place.level === 'SYSTEM')?.onUnavailable ?? 'BLOCK';
