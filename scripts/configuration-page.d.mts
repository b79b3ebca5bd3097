import type { z } from 'zod';

export interface Variable {
  readonly name: string;
  readonly description: string | undefined;
  readonly values: string;
  readonly standard: string | undefined;
}

export interface FileKey {
  readonly path: readonly string[];
  readonly description: string | undefined;
  readonly isSection: boolean;
}

export function variablesOf(shape: z.ZodRawShape): Variable[];
export function fileKeysOf(schema: z.ZodType): FileKey[];
export function configurationPage(source: {
  readonly groups: Readonly<Record<string, z.ZodRawShape>>;
  readonly fileSchema: z.ZodType;
  readonly shipped: unknown;
}): string;
