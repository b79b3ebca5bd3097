import { Field, Float, InputType, Int, ObjectType, registerEnumType } from 'type-graphql';
import { connectionType } from '../graphql/connection.js';
import { enumOf } from '../graphql/enum.js';
import { ItemErrorType } from '../graphql/item-error.js';
import { Node } from '../graphql/node.js';
import { DateTime, Json, SafeInt, Uuid } from '../graphql/scalars.js';
import { type Health, healths, type Metric, metricNames, metrics, type Verdict } from './reading.js';

/** The public names of the metrics, with the internal ones as values. */
export const SensorMetricType = Object.fromEntries(
  metricNames.map((metric) => [metrics[metric].enumName, metric]),
) as Record<string, Metric>;
registerEnumType(SensorMetricType, {
  name: 'SensorMetric',
  description: 'A value that a sensor measures.',
  valuesConfig: Object.fromEntries(
    metricNames.map((metric) => [
      metrics[metric].enumName,
      { description: `${metrics[metric].label}, ${metrics[metric].min} to ${metrics[metric].max}.` },
    ]),
  ),
});

export const SensorHealthType = enumOf<Health>(healths);
registerEnumType(SensorHealthType, {
  name: 'SensorHealth',
  description: 'The health of a sensor, as the device reports it.',
  valuesConfig: {
    OK: { description: 'The sensor works.' },
    ERROR: { description: 'The sensor failed or is missing.' },
  },
});

export type VerdictKind = Verdict['kind'];
export const ReadingVerdictKindType = enumOf<VerdictKind>(['STORED', 'DUPLICATE', 'CONFLICT', 'REJECTED', 'RETRY']);
registerEnumType(ReadingVerdictKindType, {
  name: 'ReadingVerdictKind',
  description: 'The outcome of one reading of an ingest.',
  valuesConfig: {
    STORED: { description: 'Stored by this call. The device may drop it.' },
    DUPLICATE: { description: 'Stored before, with the same content. The device may drop it.' },
    CONFLICT: {
      description:
        'This device has used the batch id for other content, which stays stored. Send it under another id, or drop it.',
    },
    REJECTED: { description: 'Not valid and never will be; `error` says why. The device may drop it.' },
    RETRY: { description: 'Not stored, because the database was unavailable. Send it again.' },
  },
});

const value = (metric: Metric) => ({
  nullable: true,
  simple: true,
  description: `${metrics[metric].label}. Null: not measured.`,
});

@ObjectType('Sensors', { description: 'The values of one reading.' })
export class SensorsType {
  @Field(() => Float, value('bme280TempC'))
  readonly bme280TempC?: number;

  @Field(() => Float, value('ds18b20TempC'))
  readonly ds18b20TempC?: number;

  @Field(() => Float, value('humidityPct'))
  readonly humidityPct?: number;

  @Field(() => Float, value('pressureHpa'))
  readonly pressureHpa?: number;

  @Field(() => Float, value('soilMoisturePct'))
  readonly soilMoisturePct?: number;
}

const health = (sensor: string) => ({
  nullable: true,
  simple: true,
  description: `Health of the ${sensor} sensor. Null: not reported.`,
});

@ObjectType('SensorStatus', { description: 'The health of the sensors at the time of a reading.' })
export class SensorStatusType {
  @Field(() => SensorHealthType, health('BME280'))
  readonly bme280?: Health;

  @Field(() => SensorHealthType, health('DS18B20'))
  readonly ds18b20?: Health;

  @Field(() => SensorHealthType, health('soil moisture'))
  readonly soilMoisture?: Health;
}

@ObjectType('SeriesPoint', { description: 'One step of a series. All values are null if `count` is 0.' })
export class SeriesPointType {
  @Field(() => DateTime, { simple: true, description: 'The start of the step.' })
  readonly at!: Date;

  @Field(() => Int, { simple: true, description: 'The number of readings in the step that have this metric.' })
  readonly count!: number;

  @Field(() => Float, { nullable: true, simple: true, description: 'The smallest value.' })
  readonly min!: number | null;

  @Field(() => Float, { nullable: true, simple: true, description: 'The largest value.' })
  readonly max!: number | null;

  @Field(() => Float, { nullable: true, simple: true, description: 'The arithmetic mean.' })
  readonly mean!: number | null;
}

@ObjectType('Reading', { implements: Node, description: 'The values that a device measured at one moment.' })
export class ReadingType extends Node {
  @Field(() => String, { simple: true, description: 'The MAC address of the device, in upper case.' })
  readonly hardwareId!: string;

  @Field(() => String, { simple: true, description: 'The id that the device gave the reading. Unique per device.' })
  readonly batchId!: string;

  @Field(() => SafeInt, {
    simple: true,
    description: 'The time of measurement in epoch milliseconds, by the clock of the device.',
  })
  readonly timestampMs!: number;

  @Field(() => Uuid, { simple: true, description: 'The boot of the device during which it measured.' })
  readonly bootId!: string;

  @Field(() => String, { simple: true, description: 'The firmware that measured.' })
  readonly firmwareVersion!: string;

  @Field(() => String, {
    nullable: true,
    simple: true,
    description: 'The name of the device when the reading arrived.',
  })
  readonly friendlyName?: string;

  @Field(() => SensorsType, { simple: true, description: 'The values.' })
  readonly sensors!: SensorsType;

  @Field(() => SensorStatusType, { simple: true, description: 'The health of the sensors.' })
  readonly sensorStatus!: SensorStatusType;
}

export const ReadingConnection = connectionType('Reading', () => ReadingType);

@InputType({ description: 'A reading to store. A field that is missing or not valid rejects this reading only.' })
export class ReadingInput {
  @Field(() => String, { nullable: true, description: 'Required. MAC address of a registered device, in either case.' })
  readonly hardwareId?: string | null;

  @Field(() => String, {
    nullable: true,
    description: 'Required. 1–256 of A-Z a-z 0-9 _ . : -, unique per device. A repeat is a DUPLICATE.',
  })
  readonly batchId?: string | null;

  @Field(() => Float, {
    nullable: true,
    description:
      'Required. Time of measurement, a whole number of epoch milliseconds from 2000 to 2100, at most 10 minutes ahead.',
  })
  readonly timestampMs?: number | null;

  @Field(() => String, { nullable: true, description: 'Required. UUID of version 4 of the current boot.' })
  readonly bootId?: string | null;

  @Field(() => String, { nullable: true, description: 'Required. 1–64 printable ASCII characters.' })
  readonly firmwareVersion?: string | null;

  @Field(() => String, {
    nullable: true,
    description: '1–64 printable ASCII characters. Absent or null: the current name of the device.',
  })
  readonly friendlyName?: string | null;

  @Field(() => Json, {
    nullable: true,
    description: `Required. Numbers by sensor, such as { bme280TempC: 21.5 }. Sensors: ${metricNames.join(', ')}. Leave out a sensor that has no value.`,
  })
  readonly sensors?: unknown;

  @Field(() => Json, {
    nullable: true,
    description: 'Required. OK or ERROR (or ok, error) by sensor: bme280, ds18b20, soilMoisture. May be {}.',
  })
  readonly sensorStatus?: unknown;
}

@InputType({ description: 'Readings to store, of one device or several.' })
export class IngestInput {
  @Field(() => [ReadingInput], { nullable: 'items', description: '1–100 readings. Each gets its own verdict.' })
  readonly readings!: (ReadingInput | null)[];
}

@ObjectType('ReadingVerdict', { description: 'The outcome of one reading.' })
export class ReadingVerdictType {
  @Field(() => Int, { simple: true, description: 'The position of the reading in the call, from 0.' })
  readonly index!: number;

  @Field(() => String, { simple: true, description: 'The batch id as it was sent; empty if none was.' })
  readonly batchId!: string;

  @Field(() => ReadingVerdictKindType, { simple: true, description: 'The outcome.' })
  readonly kind!: VerdictKind;

  @Field(() => ItemErrorType, {
    nullable: true,
    simple: true,
    description: 'The reason. Null for STORED and DUPLICATE.',
  })
  readonly error?: ItemErrorType;
}

@ObjectType({ description: 'The result of `ingest`.' })
export class IngestPayload {
  @Field(() => [String], {
    simple: true,
    description: 'Batch ids that are stored, by this call or before. The device may drop these readings.',
  })
  readonly settledBatchIds!: string[];

  @Field(() => [ReadingVerdictType], {
    simple: true,
    description: 'One verdict per reading, in the order they were sent.',
  })
  readonly verdicts!: ReadingVerdictType[];
}
