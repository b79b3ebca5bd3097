import { randomUUID } from 'node:crypto';
import { type Background, buildBackground } from '../../src/app.js';
import { silentLog } from '../../src/lib/log.js';
import { type Client, newOrg, type TestApp } from './app.js';
import * as op from './operations.js';

const quotaUsdMicros = 1000;

/** An org whose quota alerts are raised at will: each by an app of its own that uses up its quota. */
export class AlertSource {
  private raised = 0;

  private constructor(
    private readonly app: TestApp,
    private readonly worker: Background,
    readonly org: Client & { readonly orgId: string },
  ) {}

  /** Moves the clock of `app` to a fixed hour, so that no day ends during the test. */
  static async start(app: TestApp): Promise<AlertSource> {
    app.clock.advance(Date.parse('2030-03-05T03:00:00Z') - app.clock.nowMs());
    const worker = buildBackground(app.config, { clock: app.clock, log: silentLog });
    const quotas = ['premium', 'standard', 'economy'].map((label) => ({ label, dailyUsdMicros: quotaUsdMicros }));
    return new AlertSource(app, worker, await newOrg(app, { timezone: 'UTC', quotas }));
  }

  /** Raises one more QUOTA_EXCEEDED alert and returns it as the list shows it. */
  async raise(): Promise<op.AlertFragment> {
    const { admin } = this.app;
    const place = { orgId: this.org.orgId, appId: `spender-${this.raised++}` };
    await admin.ask(op.RegisterAppDocument, { input: { ...place, name: 'Spender' } });
    const used = {
      requestId: randomUUID(),
      modelLabel: 'premium',
      inputTokens: 0,
      outputTokens: 0,
      costUsdMicros: quotaUsdMicros,
    };
    await admin.ask(op.SubmitCostDocument, { input: { ...place, ...used } });
    await this.worker.spend.sumAll();
    const [newest] = (await admin.ask(op.OrgAlertsDocument, { orgId: place.orgId, first: 1 })).org?.alerts.nodes ?? [];
    if (newest?.appId !== place.appId) throw new Error(`no alert of ${place.appId} was raised`);
    return newest;
  }

  stop(): void {
    this.worker.close();
  }
}

export const bearer = ({ accessToken }: Pick<Client, 'accessToken'>): { readonly authorization: string } => ({
  authorization: `Bearer ${accessToken}`,
});
