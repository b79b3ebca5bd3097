import { AdmissionService } from '../admission/admission.service.js';
import { AdmissionLimits } from '../admission/admission-limits.service.js';
import { AdmissionMoney } from '../admission/admission-money.service.js';
import { AdmittedCalls } from '../admission/admitted-call.service.js';
import { SettlementService } from '../admission/settlement.service.js';
import { WaitingLine } from '../admission/waiting-line.js';
import { RootKeys, Sealer } from '../lib/seal.js';
import type { Base } from './base.js';
import type { buildLimits } from './limits.js';
import type { buildSpend } from './spend.js';

/** One call that decides, for a gateway. */
export function buildAdmission(
  { config, clock, log, metrics }: Base,
  spending: ReturnType<typeof buildSpend>,
  limiting: ReturnType<typeof buildLimits>,
) {
  const { spend, reservations, holds, memory, prices, budgets, selection } = spending;
  const limits = new AdmissionLimits({ limits: limiting.limits, leases: limiting.leases, log });
  const calls = new AdmittedCalls({ reservations, sealer: new Sealer(new RootKeys(config.rootSecrets, 'admissions')) });
  const money = new AdmissionMoney({ holds, prices, budgets, selection, memory, clock });
  const line = new WaitingLine(clock);
  memory.onFreed(() => line.wake());
  return {
    admissions: new AdmissionService({ money, limits, calls, reservations, prices, line, clock, metrics }),
    settlements: new SettlementService({ calls, limits, spend, reservations, prices, clock }),
  };
}
