import type { Issue } from '../../lib/errors.js';
import { entityIssues } from '../entities/entity-id.js';
import type { Limit, LimitSet } from '../limit.js';
import { resourceIssues } from '../limit-input.js';

export const limitLevels = ['SYSTEM', 'RESOURCE', 'ENTITY_DEFAULT', 'ENTITY'] as const;
export type LimitLevel = (typeof limitLevels)[number];

export const unavailablePolicies = ['ALLOW', 'BLOCK'] as const;
export type OnUnavailable = (typeof unavailablePolicies)[number];

/** A place where limits can be set: a level with the entity and resource that it needs. */
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

/** A place as it is stored. A deleted config keeps its version, because no version may stand for two sets of limits. */
export interface Level {
  /** 0 if nothing was ever set. */
  readonly version: number;
  /** Absent if nothing is set now. */
  readonly config?: LimitConfig;
}

/** The entity and resource that limits are resolved for. */
export interface ResolutionKey {
  readonly orgId: string;
  readonly namespace: string;
  readonly entityId: string;
  readonly resource: string;
}

/** The limits in force for an entity and a resource. */
export interface ResolvedLimits {
  /** Absent if no level has limits. */
  readonly set?: LimitSet;
  readonly source?: LimitLevel;
  readonly onUnavailable: OnUnavailable;
  /** True if the limits come from level ENTITY. Then the bucket does not expire. */
  readonly isEntityLevel: boolean;
  /** The version of each level, strongest first; 0 if nothing was ever set. A version never decreases. */
  readonly levels: readonly number[];
}

/** The entities that an acquire takes from: the entity, and its parent if the entity cascades. */
export interface TakePath {
  readonly entityId: string;
  readonly resolved: ResolvedLimits;
  readonly parent?: { readonly entityId: string; readonly resolved: ResolvedLimits };
}

/** A place as a caller names it. */
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
  const issuesOf = (
    field: 'resource' | 'entityId',
    value: string | null | undefined,
    check: (value: string, path: string) => Issue[],
  ): Issue[] => {
    const isNeeded = needs[level][field];
    const at = path + field;
    if (typeof value !== 'string') return isNeeded ? [{ path: at, message: `is required at level ${level}` }] : [];
    return isNeeded ? check(value, at) : [{ path: at, message: `does not apply at level ${level}; leave it out` }];
  };
  return [...issuesOf('resource', resource, resourceIssues), ...issuesOf('entityId', entityId, entityIssues)];
}

/** The place of a request that has no issues. */
export const placeOf = ({ level, resource, entityId }: PlaceRequest): ConfigPlace =>
  ({
    level,
    ...(needs[level].resource ? { resource } : {}),
    ...(needs[level].entityId ? { entityId } : {}),
  }) as ConfigPlace;

/** The places that limits are looked up in, strongest first. */
export const placesFor = (entityId: string, resource: string): ConfigPlace[] => [
  { level: 'ENTITY', entityId, resource },
  { level: 'ENTITY_DEFAULT', entityId },
  { level: 'RESOURCE', resource },
  { level: 'SYSTEM' },
];

/** The config that applies: the first that has limits. Configs are not merged. */
export function winner(configs: readonly (LimitConfig | undefined)[]): LimitConfig | undefined {
  return configs.find((config) => config !== undefined && config.limits.length > 0);
}

export const policyOf = (configs: readonly (LimitConfig | undefined)[]): OnUnavailable =>
  configs.find((config) => config?.place.level === 'SYSTEM')?.onUnavailable ?? 'BLOCK';
