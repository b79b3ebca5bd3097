// The inputs of the schema that the in-memory Tollgate reads.
import type { CallStatus } from '../types.js';
import type { AcquireInput } from './limits.js';

export interface UsageInput {
  readonly inputTokens?: number;
  readonly outputTokens?: number;
  readonly maxOutputTokens?: number;
  readonly components?: readonly { readonly name: string; readonly quantity: number }[];
  readonly costUsdMicros?: number;
}

export interface AdmitInput {
  readonly requestId: string;
  readonly estimate: UsageInput;
  readonly labels?: readonly string[];
  readonly limits?: readonly AcquireInput[];
}

export interface SettleInput extends UsageInput {
  readonly admissionId: string;
  readonly callStatus?: CallStatus;
  readonly estimated?: boolean;
  readonly dimensions?: readonly { readonly name: string; readonly value: string }[];
  readonly adjust?: readonly {
    readonly entityId: string;
    readonly resource: string;
    readonly consumed: AcquireInput['consume'];
  }[];
}

export interface SubmitInput extends UsageInput {
  readonly requestId: string;
  readonly modelLabel: string;
  readonly callStatus?: CallStatus;
  readonly dimensions?: readonly { readonly name: string; readonly value: string }[];
}
