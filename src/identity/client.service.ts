import type { AuditService } from '../audit/audit.service.js';
import { type Actor, clientEntity } from '../audit/audit-event.js';
import type { ChangeService } from '../changes/change.service.js';
import type { TransactItem } from '../dynamo/transact-item.js';
import type { Clock } from '../lib/clock.js';
import { badInput, notFound, refuseAny } from '../lib/errors.js';
import { randomHex } from '../lib/id.js';
import type { Metrics } from '../lib/metrics.js';
import { nameIssues } from '../lib/text.js';
import { type Client, type ClientOwner, maxClients } from './client.js';
import type { ClientStore } from './client.store.js';
import { clientIdOf, clientKeyBytes, parseClientId } from './client-id.js';
import type { CredentialService, SecretRetrieval } from './credential.service.js';
import { everyGeneration, type RevocationStore } from './revocation.store.js';
import type { RevocationCache } from './revocation-cache.js';
import type { ClientRole } from './secret.js';

export interface ClientDeps {
  readonly store: ClientStore;
  readonly credentials: CredentialService;
  readonly revocations: RevocationStore;
  readonly changes: ChangeService;
  readonly revocationCache: RevocationCache;
  readonly audit: AuditService;
  readonly clock: Clock;
  readonly metrics: Metrics;
}

/** Further clients of orgs and apps. */
export class ClientService {
  constructor(private readonly deps: ClientDeps) {}

  /** Creates a client and the retrieval token for its first secret, in one transaction. */
  async create(
    owner: ClientOwner,
    { name, role }: { readonly name: string; readonly role: ClientRole },
    actor: Actor,
  ): Promise<{ readonly client: Client; readonly secretRetrieval: SecretRetrieval }> {
    refuseAny(nameIssues(name));
    const { store, credentials, audit, clock } = this.deps;
    // A random key is never used again, so the tokens of a deleted client cannot become valid again.
    const ref = { ...owner, clientKey: randomHex(clientKeyBytes) };
    const { retrieval, rider } = credentials.firstRetrieval(ref);
    const event = audit.draft({
      orgId: owner.orgId,
      actor,
      action: 'client_created',
      entityId: clientEntity(clientIdOf(ref)),
      details: { name, role },
    });
    const client = await store.create({ ref, owner, name, role, createdAt: new Date(clock.nowMs()) }, [rider, event]);
    if (client === 'no owner') throw notFound(owner.appId === undefined ? 'org' : 'app');
    if (client === 'too many')
      throw badInput({
        path: 'input',
        message: `the maximum of ${maxClients} further clients is reached; delete one first`,
      });
    return { client, secretRetrieval: retrieval };
  }

  /** A consistent read, because a client that is missed here would survive the deletion of its app. */
  listForDeletion(owner: ClientOwner): Promise<Client[]> {
    return this.deps.store.list(owner, { consistent: true });
  }

  /** The rider that ends the tokens of a client below a generation, by default all of them for good. */
  draftEnd(clientId: string, validFromGeneration = everyGeneration): TransactItem {
    return this.deps.revocations.draftClientRevocation(clientId, validFromGeneration, this.deps.clock.nowMs());
  }

  /** Call it after the transaction with `draftEnd`, so that this process refuses the tokens during an outage too. */
  noteEnd(clientId: string, validFromGeneration = everyGeneration): void {
    this.deps.revocationCache.noteClient(clientId, validFromGeneration);
  }

  /** Deletes a further client with its secrets and tokens, on all gateways within 2 s. */
  async delete(orgId: string, clientId: string, actor: Actor): Promise<void> {
    const { store, audit, changes, metrics } = this.deps;
    const ref = parseClientId(clientId);
    if (ref?.orgId !== orgId) throw notFound('client');
    if (ref.clientKey === undefined) {
      throw badInput({
        path: 'clientId',
        message:
          'is the first client of its org or app, which cannot be deleted; ' +
          'rotate it with graceHours 0, or use deleteApp',
      });
    }
    const client = await store.load(ref);
    if (!client) throw notFound('client');
    const riders = [
      this.draftEnd(clientId),
      changes.draftChange(orgId),
      audit.draft({
        orgId,
        actor,
        action: 'client_deleted',
        entityId: clientEntity(clientId),
        details: { name: client.name },
      }),
    ];
    if (!(await store.delete(client, riders))) return;
    this.noteEnd(clientId);
    metrics.revocations.inc({ by: 'client' });
    await changes.refresh();
  }
}
