import 'reflect-metadata';
import type { GraphQLSchema } from 'graphql';
import { buildSchema, getMetadataStorage, type NonEmptyArray } from 'type-graphql';
import { AdmittedResolver, DeniedResolver } from '../admission/admission.resolver.js';
import { AlertResolver, AppAlertResolver, OrgAlertResolver } from '../alerts/alert.resolver.js';
import { AuditEventResolver, OrgAuditResolver, PlatformAuditResolver } from '../audit/audit.resolver.js';
import { DeviceResolver, OrgDeviceResolver } from '../devices/device.resolver.js';
import { DeviceReadingResolver, ReadingResolver } from '../devices/reading.resolver.js';
import { ApiKeyResolver, OrgApiKeyResolver } from '../identity/api-key.resolver.js';
import { AppClientResolver, ClientResolver, OrgClientResolver } from '../identity/client.resolver.js';
import { IdentityResolver } from '../identity/identity.resolver.js';
import { BucketResolver, EntityResolver, OrgEntityResolver } from '../limits/entities/entity.resolver.js';
import { LimitConfigResolver, OrgLimitResolver } from '../limits/levels/limit-config.resolver.js';
import { LimitResolver } from '../limits/limit.resolver.js';
import { OrgUsageResolver } from '../limits/usage/usage.resolver.js';
import { ManagedResolver } from '../orgs/managed.resolver.js';
import { AppResolver, OrgResolver } from '../orgs/org.resolver.js';
import { AppBreakdownResolver, OrgBreakdownResolver } from '../spend/breakdown/breakdown.resolver.js';
import { BudgetResolver, OrgBudgetResolver } from '../spend/budgets/budget.resolver.js';
import { CatalogResolver, OrgPriceResolver, OrgPricesResolver } from '../spend/catalog/catalog.resolver.js';
import { OverrunResolver } from '../spend/held/overrun.resolver.js';
import {
  AppLedgerResolver,
  CorrectionResolver,
  CostEntryResolver,
  OrgLedgerResolver,
} from '../spend/ledger/ledger.resolver.js';
import { AppSpendResolver, CostResolver, DaySpendResolver, OrgSpendResolver } from '../spend/spend.resolver.js';
import { NodeResolver } from './node.resolver.js';
import { authChecker } from './policy.js';

// Reading order of this folder. Schema kit, which resolvers use: schema, context (with loaders), policy, connection,
// node, scalars, errors. Execution of one operation: documents (parse, bounds, validate), prepared-operation
// (complexity), operations (Apollo), executor (graphql-js or compiled).

// biome-ignore lint/complexity/noBannedTypes: type-graphql's own word for a resolver class
type ResolverClass = Function;

const resolvers: NonEmptyArray<ResolverClass> = [
  IdentityResolver,
  NodeResolver,
  OrgResolver,
  AppResolver,
  ManagedResolver,
  CatalogResolver,
  OrgPriceResolver,
  OrgPricesResolver,
  CostResolver,
  OrgSpendResolver,
  AppSpendResolver,
  DaySpendResolver,
  OrgBreakdownResolver,
  AppBreakdownResolver,
  OrgLedgerResolver,
  AppLedgerResolver,
  CostEntryResolver,
  CorrectionResolver,
  BudgetResolver,
  OrgBudgetResolver,
  OverrunResolver,
  AdmittedResolver,
  DeniedResolver,
  AlertResolver,
  OrgAlertResolver,
  AppAlertResolver,
  OrgAuditResolver,
  PlatformAuditResolver,
  AuditEventResolver,
  LimitResolver,
  LimitConfigResolver,
  OrgLimitResolver,
  EntityResolver,
  OrgEntityResolver,
  OrgUsageResolver,
  BucketResolver,
  ClientResolver,
  OrgClientResolver,
  AppClientResolver,
  ApiKeyResolver,
  OrgApiKeyResolver,
  DeviceResolver,
  OrgDeviceResolver,
  DeviceReadingResolver,
  ReadingResolver,
];

/** The schema. `more`: resolvers that tests of the transports add. */
export async function createSchema(more: readonly ResolverClass[] = []): Promise<GraphQLSchema> {
  // Decorators of parameters run from last to first, and type-graphql emits arguments in the order of their decorators.
  getMetadataStorage().params.sort((a, b) => a.index - b.index);
  const schema = await buildSchema({
    resolvers: [...resolvers, ...more] as NonEmptyArray<ResolverClass>,
    authChecker,
    authMode: 'error',
    validate: false,
    // The check executes an introspection query at every start. `test/rules/schema.test.ts` checks the schema instead.
    skipCheck: true,
    orphanedTypes: [],
    // Subscriptions follow logs in DynamoDB. Nothing is published inside the process.
    pubSub: {
      publish() {},
      subscribe: () => ({ [Symbol.asyncIterator]: () => ({ next: async () => ({ done: true, value: undefined }) }) }),
    } as never,
  });
  for (const [type, description] of [
    [schema.getQueryType(), 'Reads. Nothing is changed.'],
    [
      schema.getMutationType(),
      'Changes. The fields of one request are executed one after the other; each fails on its own.',
    ],
    [schema.getSubscriptionType(), 'Live events, over WebSocket (graphql-transport-ws) or server-sent events.'],
  ] as const)
    if (type) type.description = description;
  return schema;
}
