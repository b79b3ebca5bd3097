import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

/** What a process counts about itself. No tenant's name or figure is a label: the page needs no credential. */
export class Metrics {
  readonly registry = new Registry();
  readonly requests = this.counter('tollgate_requests_total', 'Operations served', ['operation', 'outcome']);
  readonly requestSeconds = new Histogram({
    name: 'tollgate_request_seconds',
    help: 'Time from the read request body to the response',
    labelNames: ['operation'],
    buckets: [0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3],
    registers: [this.registry],
  });
  readonly storeCalls = this.counter('tollgate_store_calls_total', 'Calls to DynamoDB', ['call', 'outcome']);
  readonly storeUnits = this.counter('tollgate_store_units_total', 'Capacity units consumed', ['kind']);
  readonly revocations = this.counter('tollgate_revocations_total', 'Tokens, families and clients revoked', ['by']);
  readonly revocationChecks = this.counter(
    'tollgate_revocation_checks_total',
    'Checks whether a token is revoked, by source: memory or store',
    ['from'],
  );
  readonly retrievals = this.counter('tollgate_secret_retrievals_total', 'One-time tokens redeemed or refused', [
    'outcome',
  ]);
  readonly logins = this.counter('tollgate_logins_total', 'Client logins', ['outcome']);
  readonly consoleSessions = this.counter(
    'tollgate_console_sessions_total',
    'Console sessions: started by a secret or by a link, ended by a sign-out or by a newer session',
    ['event'],
  );
  readonly secretHashes = this.counter(
    'tollgate_secret_hashes_total',
    'bcrypt computations: hashes of new secrets, comparisons with presented ones',
    ['kind'],
  );
  readonly keyChecks = this.counter(
    'tollgate_device_key_checks_total',
    'Device keys verified against the store, by the id of the root secret of their hash',
    ['root'],
  );
  readonly auditDropped = this.counter(
    'tollgate_audit_dropped_total',
    'Records of refused logins dropped because too many were pending',
    [],
  );
  readonly alerts = this.counter('tollgate_alerts_total', 'Quota alerts raised', ['kind']);
  readonly stickyFlips = this.counter('tollgate_sticky_flips_total', 'Times a scope fell back to the next label', []);
  readonly acquires = this.counter(
    'tollgate_acquires_total',
    'Acquires by outcome: granted, refused, replayed, or granted while DynamoDB was unavailable',
    ['outcome'],
  );
  readonly admissions = this.counter('tollgate_admissions_total', 'Calls that asked to be admitted, by outcome', [
    'outcome',
  ]);
  readonly overruns = this.counter(
    'tollgate_overruns_total',
    'Costs under a HARD quota or budget that no reservation covered, by kind',
    ['kind'],
  );
  readonly reserved = new Gauge({
    name: 'tollgate_reserved_usd_micros',
    help: 'Micro-dollars that were reserved on HARD quotas and budgets when this worker last summed them',
    registers: [this.registry],
  });
  readonly refusalsDropped = this.counter(
    'tollgate_refusals_dropped_total',
    'Refusals that were not counted because too many buckets had refusals',
    [],
  );
  readonly aggregatorLag = new Gauge({
    name: 'tollgate_aggregator_lag_seconds',
    help: 'Time since the last complete aggregation of the slice that is furthest behind, by any worker',
    registers: [this.registry],
  });
  readonly priceAge = new Gauge({
    name: 'tollgate_price_age_seconds',
    help: 'Time since the oldest price in use was fetched; only if a price source is configured',
    registers: [this.registry],
  });
  readonly priceFailures = this.counter(
    'tollgate_price_failures_total',
    'Price lists that could not be read, and missing or invalid entries in them',
    ['reason'],
  );
  readonly quotaProximity = new Histogram({
    name: 'tollgate_quota_proximity_pct',
    help: 'Spend of scopes in percent of their quotas, at each aggregation',
    buckets: [50, 75, 90, 95, 100],
    registers: [this.registry],
  });
  readonly sockets = new Gauge({
    name: 'tollgate_subscriptions_open',
    help: 'Open subscription streams',
    labelNames: ['transport'],
    registers: [this.registry],
  });

  /** Adds metrics of the process: event loop, heap, descriptors. Once per process, because they are global. */
  withProcess(): this {
    collectDefaultMetrics({ register: this.registry });
    return this;
  }

  /** The text for Prometheus. A process that shares its port with others replaces it by the sum over all of them. */
  page: () => Promise<string> = () => this.registry.metrics();

  private counter<L extends string>(name: string, help: string, labelNames: readonly L[]): Counter<L> {
    return new Counter({ name, help, labelNames, registers: [this.registry] });
  }
}
