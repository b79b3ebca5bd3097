import type { StoreClient, Write } from '../../dynamo/client.js';
import { absent, and, beginsWith, equals, present } from '../../dynamo/expression.js';
import { key } from '../../dynamo/keys.js';
import type { TransactItem } from '../../dynamo/transact-item.js';
import { configKey } from '../../identity/client.item.js';
import { budgetKey, budgetPrefix, budgetTable, toBudget, toBudgetItem } from './budget.item.js';
import type { Budget } from './budget.js';

/**
 * The budgets of orgs. Every change of a budget increments the counter on the item of its org, so that an org without
 * budgets costs no read, and so that two changes of one org never overlap: the number of budgets is exact.
 */
export class BudgetStore {
  constructor(private readonly client: StoreClient) {}

  /** All budgets of an org by name. A consistent read, because the result is cached, or a change starts from it. */
  async list(orgId: string): Promise<Budget[]> {
    const items = await this.client.queryAll({
      table: budgetTable,
      where: and(equals('PK', key`ORG#${orgId}`), beginsWith('SK', budgetPrefix)),
      consistent: true,
    });
    return items.map(toBudget);
  }

  /**
   * Saves a budget whose `revision` is the next value of the org's counter. False if another change of a budget of this
   * org came between.
   */
  async save(budget: Budget, riders: readonly TransactItem[]): Promise<boolean> {
    const condition = budget.version === 1 ? absent('PK') : equals('version', budget.version - 1);
    const put = { table: budgetTable, put: toBudgetItem(budget), condition } as const;
    return this.transact(put, budget.orgId, budget.revision, riders);
  }

  /** Deletes a budget. `revision`: the next value of the org's counter. False if another change came between. */
  async delete(budget: Budget, revision: number, riders: readonly TransactItem[]): Promise<boolean> {
    const condition = equals('version', budget.version);
    return this.transact({ table: budgetTable, delete: budgetKey(budget), condition }, budget.orgId, revision, riders);
  }

  private async transact(
    write: Write,
    orgId: string,
    revision: number,
    riders: readonly TransactItem[],
  ): Promise<boolean> {
    const counter = {
      table: budgetTable,
      update: configKey({ orgId }),
      set: { budgets_version: revision },
      condition:
        revision === 1 ? and(present('PK'), absent('budgets_version')) : equals('budgets_version', revision - 1),
    } as const;
    const { done } = await this.client.transact('fresh', [write, counter], { riders });
    return done;
  }
}
