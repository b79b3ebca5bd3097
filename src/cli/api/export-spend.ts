import { pipeline } from 'node:stream/promises';
import type { Environment } from '../../config.js';
import { apiOf, cliSession, type GlobalOptions } from './session.js';

interface ExportOptions extends GlobalOptions {
  readonly from: string;
  readonly to: string;
  readonly by: string;
  readonly format: string;
}

/** Streams the export to the standard output. Fails if the gateway does not send all of it. */
export async function exportSpend(options: ExportOptions, environment: Environment): Promise<void> {
  const { from, to, by, format } = options;
  const session = await cliSession(environment, options);
  const orgId = session.orgId === undefined ? {} : { orgId: session.orgId };
  const file = await apiOf(session).download('/export/spend', { from, to, by, format, ...orgId });
  await pipeline(file, process.stdout, { end: false });
}
