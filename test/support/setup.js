import 'reflect-metadata';
import { configureGlobal } from 'fast-check';

// The same examples in every run, so that a failure is caused by a change. TOLLGATE_TEST_SEED selects others.
configureGlobal({ seed: Number(process.env.TOLLGATE_TEST_SEED ?? 0x5eed) });

// Jest sets 100, and the stack of each refusal is read: GraphQL copies it.
Error.stackTraceLimit = 20;
