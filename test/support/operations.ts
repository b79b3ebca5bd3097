/** Internal type. DO NOT USE DIRECTLY. */
type Exact<T extends { [key: string]: unknown }> = { [K in keyof T]: T[K] };
/** Internal type. DO NOT USE DIRECTLY. */
export type Incremental<T> = T | { [P in keyof T]?: P extends ' $fragmentName' | '__typename' ? T[P] : never };
import type { TypedDocumentNode as DocumentNode } from '@graphql-typed-document-node/core';
export type IssueTokenInput = {
  clientId: string;
  clientSecret: string;
};

export type ModelQuotaInput = {
  dailyUsdMicros: number;
  label: string;
};

export type PriceSource =
  | 'CONFIG_DEFAULT'
  | 'PRICING_CACHE'
  | 'SUBMITTED';

export type PrincipalKind =
  | 'APP_CLIENT'
  | 'DEVICE_KEY'
  | 'ORG_CLIENT'
  | 'PLATFORM_ADMIN';

/** Whose the daily quotas are: one for the whole org, or one for each app. */
export type QuotaScope =
  | 'APP'
  | 'ORG';

export type RegisterAppInput = {
  appId: string;
  modelOrdering?: Array<string> | null | undefined;
  name: string;
  orgId?: string | null | undefined;
  quotas?: Array<ModelQuotaInput> | null | undefined;
  refreshIntervalNormalSecs?: number | null | undefined;
  refreshIntervalTightSecs?: number | null | undefined;
  tightModeThresholdPct?: number | null | undefined;
};

export type RegisterOrgInput = {
  modelOrdering: Array<string>;
  name: string;
  /** Absent: a new random UUID. Choose one yourself, and a repeated call cannot make a second org. */
  orgId?: string | null | undefined;
  quotaScope: QuotaScope;
  quotas: Array<ModelQuotaInput>;
  refreshIntervalNormalSecs?: number;
  refreshIntervalTightSecs?: number;
  /** 8, 16, 32 or 64; fixed for the org's life. */
  shardCount?: number;
  stickyFallbackEnabled?: boolean;
  tightModeThresholdPct?: number;
  timezone: string;
};

export type RotateCredentialsInput = {
  /** Absent: the org's own credentials, or those of the app that calls. */
  appId?: string | null | undefined;
  /** 0 to 168. 0 ends the old secret and every token obtained with it as soon as the new one is retrieved. */
  graceHours?: number;
  orgId?: string | null | undefined;
};

/** An explicit null returns a setting to the org's; an absent one stays as it is. */
export type UpdateAppInput = {
  appId: string;
  modelOrdering?: Array<string> | null | undefined;
  name?: string | null | undefined;
  orgId?: string | null | undefined;
  quotas?: Array<ModelQuotaInput> | null | undefined;
  refreshIntervalNormalSecs?: number | null | undefined;
  refreshIntervalTightSecs?: number | null | undefined;
  tightModeThresholdPct?: number | null | undefined;
};

/** What is absent or null stays as it is. */
export type UpdateOrgInput = {
  modelOrdering?: Array<string> | null | undefined;
  name?: string | null | undefined;
  orgId?: string | null | undefined;
  quotas?: Array<ModelQuotaInput> | null | undefined;
  refreshIntervalNormalSecs?: number | null | undefined;
  refreshIntervalTightSecs?: number | null | undefined;
  stickyFallbackEnabled?: boolean | null | undefined;
  tightModeThresholdPct?: number | null | undefined;
  /** Takes effect after the current day's end. */
  timezone?: string | null | undefined;
};

export type TokensFragment = { accessToken: string, refreshToken: string, tokenType: string, expiresInSecs: number, refreshExpiresInSecs: number };

export type OrgSettingsFragment = { id: string, orgId: string, name: string, timezone: string, timezoneEffectiveAt: string | null, quotaScope: QuotaScope, modelOrdering: Array<string>, stickyFallbackEnabled: boolean, shardCount: number, tightModeThresholdPct: number, refreshIntervalNormalSecs: number, refreshIntervalTightSecs: number, createdAt: string, updatedAt: string, quotas: Array<{ label: string, dailyUsdMicros: number }>, credentials: { clientId: string, secretCreatedAt: string | null, graceExpiresAt: string | null } };

export type AppSettingsFragment = { id: string, appId: string, name: string, modelOrdering: Array<string>, tightModeThresholdPct: number, refreshIntervalNormalSecs: number, refreshIntervalTightSecs: number, inheritedFields: Array<string>, createdAt: string, updatedAt: string, quotas: Array<{ label: string, dailyUsdMicros: number }>, credentials: { clientId: string, secretCreatedAt: string | null, graceExpiresAt: string | null } };

export type MeQueryVariables = Exact<{ [key: string]: never; }>;


export type MeQuery = { me: { kind: PrincipalKind, clientId: string | null, expiresAt: string | null, org: { orgId: string, name: string } | null, app: { appId: string, name: string } | null } };

export type ModelsQueryVariables = Exact<{ [key: string]: never; }>;


export type ModelsQuery = { models: Array<{ label: string, bedrockModelId: string, tier: string | null, family: string | null, description: string | null, price: { inputUsdMicrosPer1M: number, outputUsdMicrosPer1M: number, source: PriceSource, fetchedAt: string | null } }> };

export type OrgQueryVariables = Exact<{
  orgId?: string | null | undefined;
}>;


export type OrgQuery = { org: { id: string, orgId: string, name: string, timezone: string, timezoneEffectiveAt: string | null, quotaScope: QuotaScope, modelOrdering: Array<string>, stickyFallbackEnabled: boolean, shardCount: number, tightModeThresholdPct: number, refreshIntervalNormalSecs: number, refreshIntervalTightSecs: number, createdAt: string, updatedAt: string, quotas: Array<{ label: string, dailyUsdMicros: number }>, credentials: { clientId: string, secretCreatedAt: string | null, graceExpiresAt: string | null } } | null };

export type OrgsQueryVariables = Exact<{
  first?: number | null | undefined;
  after?: string | null | undefined;
}>;


export type OrgsQuery = { orgs: { edges: Array<{ cursor: string, node: { orgId: string } }>, nodes: Array<{ orgId: string, name: string }>, pageInfo: { hasNextPage: boolean, hasPreviousPage: boolean, startCursor: string | null, endCursor: string | null } } };

export type AppsQueryVariables = Exact<{
  orgId?: string | null | undefined;
  first?: number | null | undefined;
  after?: string | null | undefined;
}>;


export type AppsQuery = { org: { apps: { nodes: Array<{ appId: string }>, pageInfo: { hasNextPage: boolean, hasPreviousPage: boolean, startCursor: string | null, endCursor: string | null } } } | null };

export type AppQueryVariables = Exact<{
  orgId?: string | null | undefined;
  appId: string;
}>;


export type AppQuery = { org: { app: { id: string, appId: string, name: string, modelOrdering: Array<string>, tightModeThresholdPct: number, refreshIntervalNormalSecs: number, refreshIntervalTightSecs: number, inheritedFields: Array<string>, createdAt: string, updatedAt: string, org: { orgId: string }, quotas: Array<{ label: string, dailyUsdMicros: number }>, credentials: { clientId: string, secretCreatedAt: string | null, graceExpiresAt: string | null } } | null } | null };

export type AuditQueryVariables = Exact<{
  orgId?: string | null | undefined;
  entityId?: string | null | undefined;
  first?: number | null | undefined;
  after?: string | null | undefined;
}>;


export type AuditQuery = { org: { auditEvents: { nodes: Array<{ id: string, at: string, actor: string, action: string, entityId: string, resource: string | null, details: Array<{ name: string, value: string }> }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } } | null };

export type NodeQueryVariables = Exact<{
  id: string | number;
}>;


export type NodeQuery = { node:
    | { __typename: 'App', appId: string, id: string }
    | { __typename: 'AuditEvent', action: string, id: string }
    | { __typename: 'Org', orgId: string, id: string }
   | null };

export type RegisterOrgMutationVariables = Exact<{
  input: RegisterOrgInput;
}>;


export type RegisterOrgMutation = { registerOrg: { org: { id: string, orgId: string, name: string, timezone: string, timezoneEffectiveAt: string | null, quotaScope: QuotaScope, modelOrdering: Array<string>, stickyFallbackEnabled: boolean, shardCount: number, tightModeThresholdPct: number, refreshIntervalNormalSecs: number, refreshIntervalTightSecs: number, createdAt: string, updatedAt: string, quotas: Array<{ label: string, dailyUsdMicros: number }>, credentials: { clientId: string, secretCreatedAt: string | null, graceExpiresAt: string | null } }, secretRetrieval: { token: string, expiresAt: string } } };

export type UpdateOrgMutationVariables = Exact<{
  input: UpdateOrgInput;
}>;


export type UpdateOrgMutation = { updateOrg: { id: string, orgId: string, name: string, timezone: string, timezoneEffectiveAt: string | null, quotaScope: QuotaScope, modelOrdering: Array<string>, stickyFallbackEnabled: boolean, shardCount: number, tightModeThresholdPct: number, refreshIntervalNormalSecs: number, refreshIntervalTightSecs: number, createdAt: string, updatedAt: string, quotas: Array<{ label: string, dailyUsdMicros: number }>, credentials: { clientId: string, secretCreatedAt: string | null, graceExpiresAt: string | null } } };

export type RegisterAppMutationVariables = Exact<{
  input: RegisterAppInput;
}>;


export type RegisterAppMutation = { registerApp: { app: { id: string, appId: string, name: string, modelOrdering: Array<string>, tightModeThresholdPct: number, refreshIntervalNormalSecs: number, refreshIntervalTightSecs: number, inheritedFields: Array<string>, createdAt: string, updatedAt: string, quotas: Array<{ label: string, dailyUsdMicros: number }>, credentials: { clientId: string, secretCreatedAt: string | null, graceExpiresAt: string | null } }, secretRetrieval: { token: string, expiresAt: string } } };

export type UpdateAppMutationVariables = Exact<{
  input: UpdateAppInput;
}>;


export type UpdateAppMutation = { updateApp: { id: string, appId: string, name: string, modelOrdering: Array<string>, tightModeThresholdPct: number, refreshIntervalNormalSecs: number, refreshIntervalTightSecs: number, inheritedFields: Array<string>, createdAt: string, updatedAt: string, quotas: Array<{ label: string, dailyUsdMicros: number }>, credentials: { clientId: string, secretCreatedAt: string | null, graceExpiresAt: string | null } } };

export type RetrieveSecretMutationVariables = Exact<{
  token: string;
}>;


export type RetrieveSecretMutation = { retrieveSecret: { clientId: string, clientSecret: string } };

export type IssueTokenMutationVariables = Exact<{
  input: IssueTokenInput;
}>;


export type IssueTokenMutation = { issueToken: { accessToken: string, refreshToken: string, tokenType: string, expiresInSecs: number, refreshExpiresInSecs: number } };

export type RefreshTokenMutationVariables = Exact<{
  refreshToken: string;
}>;


export type RefreshTokenMutation = { refreshToken: { accessToken: string, refreshToken: string, tokenType: string, expiresInSecs: number, refreshExpiresInSecs: number } };

export type RevokeTokenMutationVariables = Exact<{
  token: string;
}>;


export type RevokeTokenMutation = { revokeToken: boolean };

export type RotateCredentialsMutationVariables = Exact<{
  input: RotateCredentialsInput;
}>;


export type RotateCredentialsMutation = { rotateCredentials: { credentials: { clientId: string, secretCreatedAt: string | null, graceExpiresAt: string | null }, secretRetrieval: { token: string, expiresAt: string } } };

export const TokensFragmentDoc = {"kind":"Document","definitions":[{"kind":"FragmentDefinition","name":{"kind":"Name","value":"Tokens"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"TokenPair"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"accessToken"}},{"kind":"Field","name":{"kind":"Name","value":"refreshToken"}},{"kind":"Field","name":{"kind":"Name","value":"tokenType"}},{"kind":"Field","name":{"kind":"Name","value":"expiresInSecs"}},{"kind":"Field","name":{"kind":"Name","value":"refreshExpiresInSecs"}}]}}]} as unknown as DocumentNode<TokensFragment, unknown>;
export const OrgSettingsFragmentDoc = {"kind":"Document","definitions":[{"kind":"FragmentDefinition","name":{"kind":"Name","value":"OrgSettings"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Org"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"orgId"}},{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"timezone"}},{"kind":"Field","name":{"kind":"Name","value":"timezoneEffectiveAt"}},{"kind":"Field","name":{"kind":"Name","value":"quotaScope"}},{"kind":"Field","name":{"kind":"Name","value":"modelOrdering"}},{"kind":"Field","name":{"kind":"Name","value":"quotas"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"label"}},{"kind":"Field","name":{"kind":"Name","value":"dailyUsdMicros"}}]}},{"kind":"Field","name":{"kind":"Name","value":"stickyFallbackEnabled"}},{"kind":"Field","name":{"kind":"Name","value":"shardCount"}},{"kind":"Field","name":{"kind":"Name","value":"tightModeThresholdPct"}},{"kind":"Field","name":{"kind":"Name","value":"refreshIntervalNormalSecs"}},{"kind":"Field","name":{"kind":"Name","value":"refreshIntervalTightSecs"}},{"kind":"Field","name":{"kind":"Name","value":"credentials"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"clientId"}},{"kind":"Field","name":{"kind":"Name","value":"secretCreatedAt"}},{"kind":"Field","name":{"kind":"Name","value":"graceExpiresAt"}}]}},{"kind":"Field","name":{"kind":"Name","value":"createdAt"}},{"kind":"Field","name":{"kind":"Name","value":"updatedAt"}}]}}]} as unknown as DocumentNode<OrgSettingsFragment, unknown>;
export const AppSettingsFragmentDoc = {"kind":"Document","definitions":[{"kind":"FragmentDefinition","name":{"kind":"Name","value":"AppSettings"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"App"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"appId"}},{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"modelOrdering"}},{"kind":"Field","name":{"kind":"Name","value":"quotas"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"label"}},{"kind":"Field","name":{"kind":"Name","value":"dailyUsdMicros"}}]}},{"kind":"Field","name":{"kind":"Name","value":"tightModeThresholdPct"}},{"kind":"Field","name":{"kind":"Name","value":"refreshIntervalNormalSecs"}},{"kind":"Field","name":{"kind":"Name","value":"refreshIntervalTightSecs"}},{"kind":"Field","name":{"kind":"Name","value":"inheritedFields"}},{"kind":"Field","name":{"kind":"Name","value":"credentials"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"clientId"}},{"kind":"Field","name":{"kind":"Name","value":"secretCreatedAt"}},{"kind":"Field","name":{"kind":"Name","value":"graceExpiresAt"}}]}},{"kind":"Field","name":{"kind":"Name","value":"createdAt"}},{"kind":"Field","name":{"kind":"Name","value":"updatedAt"}}]}}]} as unknown as DocumentNode<AppSettingsFragment, unknown>;
export const MeDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"Me"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"me"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"kind"}},{"kind":"Field","name":{"kind":"Name","value":"clientId"}},{"kind":"Field","name":{"kind":"Name","value":"expiresAt"}},{"kind":"Field","name":{"kind":"Name","value":"org"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"orgId"}},{"kind":"Field","name":{"kind":"Name","value":"name"}}]}},{"kind":"Field","name":{"kind":"Name","value":"app"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"appId"}},{"kind":"Field","name":{"kind":"Name","value":"name"}}]}}]}}]}}]} as unknown as DocumentNode<MeQuery, MeQueryVariables>;
export const ModelsDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"Models"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"models"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"label"}},{"kind":"Field","name":{"kind":"Name","value":"bedrockModelId"}},{"kind":"Field","name":{"kind":"Name","value":"tier"}},{"kind":"Field","name":{"kind":"Name","value":"family"}},{"kind":"Field","name":{"kind":"Name","value":"description"}},{"kind":"Field","name":{"kind":"Name","value":"price"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"inputUsdMicrosPer1M"}},{"kind":"Field","name":{"kind":"Name","value":"outputUsdMicrosPer1M"}},{"kind":"Field","name":{"kind":"Name","value":"source"}},{"kind":"Field","name":{"kind":"Name","value":"fetchedAt"}}]}}]}}]}}]} as unknown as DocumentNode<ModelsQuery, ModelsQueryVariables>;
export const OrgDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"Org"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"orgId"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"UUID"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"org"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"orgId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"orgId"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"OrgSettings"}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"OrgSettings"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Org"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"orgId"}},{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"timezone"}},{"kind":"Field","name":{"kind":"Name","value":"timezoneEffectiveAt"}},{"kind":"Field","name":{"kind":"Name","value":"quotaScope"}},{"kind":"Field","name":{"kind":"Name","value":"modelOrdering"}},{"kind":"Field","name":{"kind":"Name","value":"quotas"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"label"}},{"kind":"Field","name":{"kind":"Name","value":"dailyUsdMicros"}}]}},{"kind":"Field","name":{"kind":"Name","value":"stickyFallbackEnabled"}},{"kind":"Field","name":{"kind":"Name","value":"shardCount"}},{"kind":"Field","name":{"kind":"Name","value":"tightModeThresholdPct"}},{"kind":"Field","name":{"kind":"Name","value":"refreshIntervalNormalSecs"}},{"kind":"Field","name":{"kind":"Name","value":"refreshIntervalTightSecs"}},{"kind":"Field","name":{"kind":"Name","value":"credentials"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"clientId"}},{"kind":"Field","name":{"kind":"Name","value":"secretCreatedAt"}},{"kind":"Field","name":{"kind":"Name","value":"graceExpiresAt"}}]}},{"kind":"Field","name":{"kind":"Name","value":"createdAt"}},{"kind":"Field","name":{"kind":"Name","value":"updatedAt"}}]}}]} as unknown as DocumentNode<OrgQuery, OrgQueryVariables>;
export const OrgsDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"Orgs"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"first"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"Int"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"after"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"orgs"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"first"},"value":{"kind":"Variable","name":{"kind":"Name","value":"first"}}},{"kind":"Argument","name":{"kind":"Name","value":"after"},"value":{"kind":"Variable","name":{"kind":"Name","value":"after"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"edges"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"cursor"}},{"kind":"Field","name":{"kind":"Name","value":"node"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"orgId"}}]}}]}},{"kind":"Field","name":{"kind":"Name","value":"nodes"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"orgId"}},{"kind":"Field","name":{"kind":"Name","value":"name"}}]}},{"kind":"Field","name":{"kind":"Name","value":"pageInfo"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"hasNextPage"}},{"kind":"Field","name":{"kind":"Name","value":"hasPreviousPage"}},{"kind":"Field","name":{"kind":"Name","value":"startCursor"}},{"kind":"Field","name":{"kind":"Name","value":"endCursor"}}]}}]}}]}}]} as unknown as DocumentNode<OrgsQuery, OrgsQueryVariables>;
export const AppsDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"Apps"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"orgId"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"UUID"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"first"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"Int"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"after"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"org"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"orgId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"orgId"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"apps"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"first"},"value":{"kind":"Variable","name":{"kind":"Name","value":"first"}}},{"kind":"Argument","name":{"kind":"Name","value":"after"},"value":{"kind":"Variable","name":{"kind":"Name","value":"after"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"nodes"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"appId"}}]}},{"kind":"Field","name":{"kind":"Name","value":"pageInfo"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"hasNextPage"}},{"kind":"Field","name":{"kind":"Name","value":"hasPreviousPage"}},{"kind":"Field","name":{"kind":"Name","value":"startCursor"}},{"kind":"Field","name":{"kind":"Name","value":"endCursor"}}]}}]}}]}}]}}]} as unknown as DocumentNode<AppsQuery, AppsQueryVariables>;
export const AppDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"App"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"orgId"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"UUID"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"appId"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"org"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"orgId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"orgId"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"app"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"appId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"appId"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"AppSettings"}},{"kind":"Field","name":{"kind":"Name","value":"org"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"orgId"}}]}}]}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"AppSettings"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"App"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"appId"}},{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"modelOrdering"}},{"kind":"Field","name":{"kind":"Name","value":"quotas"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"label"}},{"kind":"Field","name":{"kind":"Name","value":"dailyUsdMicros"}}]}},{"kind":"Field","name":{"kind":"Name","value":"tightModeThresholdPct"}},{"kind":"Field","name":{"kind":"Name","value":"refreshIntervalNormalSecs"}},{"kind":"Field","name":{"kind":"Name","value":"refreshIntervalTightSecs"}},{"kind":"Field","name":{"kind":"Name","value":"inheritedFields"}},{"kind":"Field","name":{"kind":"Name","value":"credentials"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"clientId"}},{"kind":"Field","name":{"kind":"Name","value":"secretCreatedAt"}},{"kind":"Field","name":{"kind":"Name","value":"graceExpiresAt"}}]}},{"kind":"Field","name":{"kind":"Name","value":"createdAt"}},{"kind":"Field","name":{"kind":"Name","value":"updatedAt"}}]}}]} as unknown as DocumentNode<AppQuery, AppQueryVariables>;
export const AuditDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"Audit"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"orgId"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"UUID"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"entityId"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"first"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"Int"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"after"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"org"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"orgId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"orgId"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"auditEvents"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"entityId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"entityId"}}},{"kind":"Argument","name":{"kind":"Name","value":"first"},"value":{"kind":"Variable","name":{"kind":"Name","value":"first"}}},{"kind":"Argument","name":{"kind":"Name","value":"after"},"value":{"kind":"Variable","name":{"kind":"Name","value":"after"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"nodes"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"at"}},{"kind":"Field","name":{"kind":"Name","value":"actor"}},{"kind":"Field","name":{"kind":"Name","value":"action"}},{"kind":"Field","name":{"kind":"Name","value":"entityId"}},{"kind":"Field","name":{"kind":"Name","value":"resource"}},{"kind":"Field","name":{"kind":"Name","value":"details"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"value"}}]}}]}},{"kind":"Field","name":{"kind":"Name","value":"pageInfo"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"hasNextPage"}},{"kind":"Field","name":{"kind":"Name","value":"endCursor"}}]}}]}}]}}]}}]} as unknown as DocumentNode<AuditQuery, AuditQueryVariables>;
export const NodeDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"Node"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"id"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"ID"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"node"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"id"},"value":{"kind":"Variable","name":{"kind":"Name","value":"id"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"__typename"}},{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Org"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"orgId"}}]}},{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"App"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"appId"}}]}},{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"AuditEvent"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"action"}}]}}]}}]}}]} as unknown as DocumentNode<NodeQuery, NodeQueryVariables>;
export const RegisterOrgDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"RegisterOrg"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"input"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"RegisterOrgInput"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"registerOrg"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"input"},"value":{"kind":"Variable","name":{"kind":"Name","value":"input"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"org"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"OrgSettings"}}]}},{"kind":"Field","name":{"kind":"Name","value":"secretRetrieval"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"token"}},{"kind":"Field","name":{"kind":"Name","value":"expiresAt"}}]}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"OrgSettings"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Org"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"orgId"}},{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"timezone"}},{"kind":"Field","name":{"kind":"Name","value":"timezoneEffectiveAt"}},{"kind":"Field","name":{"kind":"Name","value":"quotaScope"}},{"kind":"Field","name":{"kind":"Name","value":"modelOrdering"}},{"kind":"Field","name":{"kind":"Name","value":"quotas"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"label"}},{"kind":"Field","name":{"kind":"Name","value":"dailyUsdMicros"}}]}},{"kind":"Field","name":{"kind":"Name","value":"stickyFallbackEnabled"}},{"kind":"Field","name":{"kind":"Name","value":"shardCount"}},{"kind":"Field","name":{"kind":"Name","value":"tightModeThresholdPct"}},{"kind":"Field","name":{"kind":"Name","value":"refreshIntervalNormalSecs"}},{"kind":"Field","name":{"kind":"Name","value":"refreshIntervalTightSecs"}},{"kind":"Field","name":{"kind":"Name","value":"credentials"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"clientId"}},{"kind":"Field","name":{"kind":"Name","value":"secretCreatedAt"}},{"kind":"Field","name":{"kind":"Name","value":"graceExpiresAt"}}]}},{"kind":"Field","name":{"kind":"Name","value":"createdAt"}},{"kind":"Field","name":{"kind":"Name","value":"updatedAt"}}]}}]} as unknown as DocumentNode<RegisterOrgMutation, RegisterOrgMutationVariables>;
export const UpdateOrgDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"UpdateOrg"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"input"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"UpdateOrgInput"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"updateOrg"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"input"},"value":{"kind":"Variable","name":{"kind":"Name","value":"input"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"OrgSettings"}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"OrgSettings"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Org"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"orgId"}},{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"timezone"}},{"kind":"Field","name":{"kind":"Name","value":"timezoneEffectiveAt"}},{"kind":"Field","name":{"kind":"Name","value":"quotaScope"}},{"kind":"Field","name":{"kind":"Name","value":"modelOrdering"}},{"kind":"Field","name":{"kind":"Name","value":"quotas"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"label"}},{"kind":"Field","name":{"kind":"Name","value":"dailyUsdMicros"}}]}},{"kind":"Field","name":{"kind":"Name","value":"stickyFallbackEnabled"}},{"kind":"Field","name":{"kind":"Name","value":"shardCount"}},{"kind":"Field","name":{"kind":"Name","value":"tightModeThresholdPct"}},{"kind":"Field","name":{"kind":"Name","value":"refreshIntervalNormalSecs"}},{"kind":"Field","name":{"kind":"Name","value":"refreshIntervalTightSecs"}},{"kind":"Field","name":{"kind":"Name","value":"credentials"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"clientId"}},{"kind":"Field","name":{"kind":"Name","value":"secretCreatedAt"}},{"kind":"Field","name":{"kind":"Name","value":"graceExpiresAt"}}]}},{"kind":"Field","name":{"kind":"Name","value":"createdAt"}},{"kind":"Field","name":{"kind":"Name","value":"updatedAt"}}]}}]} as unknown as DocumentNode<UpdateOrgMutation, UpdateOrgMutationVariables>;
export const RegisterAppDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"RegisterApp"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"input"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"RegisterAppInput"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"registerApp"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"input"},"value":{"kind":"Variable","name":{"kind":"Name","value":"input"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"app"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"AppSettings"}}]}},{"kind":"Field","name":{"kind":"Name","value":"secretRetrieval"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"token"}},{"kind":"Field","name":{"kind":"Name","value":"expiresAt"}}]}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"AppSettings"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"App"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"appId"}},{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"modelOrdering"}},{"kind":"Field","name":{"kind":"Name","value":"quotas"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"label"}},{"kind":"Field","name":{"kind":"Name","value":"dailyUsdMicros"}}]}},{"kind":"Field","name":{"kind":"Name","value":"tightModeThresholdPct"}},{"kind":"Field","name":{"kind":"Name","value":"refreshIntervalNormalSecs"}},{"kind":"Field","name":{"kind":"Name","value":"refreshIntervalTightSecs"}},{"kind":"Field","name":{"kind":"Name","value":"inheritedFields"}},{"kind":"Field","name":{"kind":"Name","value":"credentials"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"clientId"}},{"kind":"Field","name":{"kind":"Name","value":"secretCreatedAt"}},{"kind":"Field","name":{"kind":"Name","value":"graceExpiresAt"}}]}},{"kind":"Field","name":{"kind":"Name","value":"createdAt"}},{"kind":"Field","name":{"kind":"Name","value":"updatedAt"}}]}}]} as unknown as DocumentNode<RegisterAppMutation, RegisterAppMutationVariables>;
export const UpdateAppDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"UpdateApp"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"input"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"UpdateAppInput"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"updateApp"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"input"},"value":{"kind":"Variable","name":{"kind":"Name","value":"input"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"AppSettings"}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"AppSettings"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"App"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"appId"}},{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"modelOrdering"}},{"kind":"Field","name":{"kind":"Name","value":"quotas"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"label"}},{"kind":"Field","name":{"kind":"Name","value":"dailyUsdMicros"}}]}},{"kind":"Field","name":{"kind":"Name","value":"tightModeThresholdPct"}},{"kind":"Field","name":{"kind":"Name","value":"refreshIntervalNormalSecs"}},{"kind":"Field","name":{"kind":"Name","value":"refreshIntervalTightSecs"}},{"kind":"Field","name":{"kind":"Name","value":"inheritedFields"}},{"kind":"Field","name":{"kind":"Name","value":"credentials"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"clientId"}},{"kind":"Field","name":{"kind":"Name","value":"secretCreatedAt"}},{"kind":"Field","name":{"kind":"Name","value":"graceExpiresAt"}}]}},{"kind":"Field","name":{"kind":"Name","value":"createdAt"}},{"kind":"Field","name":{"kind":"Name","value":"updatedAt"}}]}}]} as unknown as DocumentNode<UpdateAppMutation, UpdateAppMutationVariables>;
export const RetrieveSecretDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"RetrieveSecret"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"token"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"retrieveSecret"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"token"},"value":{"kind":"Variable","name":{"kind":"Name","value":"token"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"clientId"}},{"kind":"Field","name":{"kind":"Name","value":"clientSecret"}}]}}]}}]} as unknown as DocumentNode<RetrieveSecretMutation, RetrieveSecretMutationVariables>;
export const IssueTokenDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"IssueToken"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"input"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"IssueTokenInput"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"issueToken"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"input"},"value":{"kind":"Variable","name":{"kind":"Name","value":"input"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"Tokens"}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"Tokens"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"TokenPair"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"accessToken"}},{"kind":"Field","name":{"kind":"Name","value":"refreshToken"}},{"kind":"Field","name":{"kind":"Name","value":"tokenType"}},{"kind":"Field","name":{"kind":"Name","value":"expiresInSecs"}},{"kind":"Field","name":{"kind":"Name","value":"refreshExpiresInSecs"}}]}}]} as unknown as DocumentNode<IssueTokenMutation, IssueTokenMutationVariables>;
export const RefreshTokenDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"RefreshToken"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"refreshToken"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"refreshToken"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"refreshToken"},"value":{"kind":"Variable","name":{"kind":"Name","value":"refreshToken"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"Tokens"}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"Tokens"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"TokenPair"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"accessToken"}},{"kind":"Field","name":{"kind":"Name","value":"refreshToken"}},{"kind":"Field","name":{"kind":"Name","value":"tokenType"}},{"kind":"Field","name":{"kind":"Name","value":"expiresInSecs"}},{"kind":"Field","name":{"kind":"Name","value":"refreshExpiresInSecs"}}]}}]} as unknown as DocumentNode<RefreshTokenMutation, RefreshTokenMutationVariables>;
export const RevokeTokenDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"RevokeToken"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"token"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"revokeToken"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"token"},"value":{"kind":"Variable","name":{"kind":"Name","value":"token"}}}]}]}}]} as unknown as DocumentNode<RevokeTokenMutation, RevokeTokenMutationVariables>;
export const RotateCredentialsDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"RotateCredentials"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"input"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"RotateCredentialsInput"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"rotateCredentials"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"input"},"value":{"kind":"Variable","name":{"kind":"Name","value":"input"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"credentials"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"clientId"}},{"kind":"Field","name":{"kind":"Name","value":"secretCreatedAt"}},{"kind":"Field","name":{"kind":"Name","value":"graceExpiresAt"}}]}},{"kind":"Field","name":{"kind":"Name","value":"secretRetrieval"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"token"}},{"kind":"Field","name":{"kind":"Name","value":"expiresAt"}}]}}]}}]}}]} as unknown as DocumentNode<RotateCredentialsMutation, RotateCredentialsMutationVariables>;