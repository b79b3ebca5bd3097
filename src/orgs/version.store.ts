import type { StoreClient } from '../dynamo/client.js';
import { fields } from '../dynamo/fields.js';
import { hardQuotasVersion, versionKey } from '../dynamo/version-item.js';
import { badInput } from '../lib/errors.js';

/** The oldest version of a process that may use the tables. */
export class VersionStore {
  constructor(private readonly client: StoreClient) {}

  /**
   * Throws if an older process may be running that does not know HARD quotas. It would count costs without adding them
   * to what is held.
   */
  async requireHard(): Promise<void> {
    const item = await this.client.get('limiter', versionKey, { consistent: true });
    const minVersion = (item && fields('limiter', item).optionalNumber('min_version')) ?? 0;
    if (minVersion >= hardQuotasVersion) return;
    throw badInput({
      path: 'input',
      message:
        'HARD is not possible yet, because an older gateway or worker may still run: upgrade all of them, then run ' +
        '`tollgate tables migrate` once more',
    });
  }
}
