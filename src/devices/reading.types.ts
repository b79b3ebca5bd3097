import { Field, Float, InputType, Int, ObjectType, registerEnumType } from 'type-graphql';
import { connectionType } from '../graphql/connection.js';
import { enumOf } from '../graphql/enum.js';
import { ItemErrorType } from '../graphql/item-error.js';
import { Node } from '../graphql/node.js';
import { DateTime, Json, SafeInt, Uuid } from '../graphql/scalars.js';
import { type Health, healths, type Metric, metricNames, metrics } from './reading.js';
import type { Verdict } from './verdict.js';

/** The public names of the metrics, mapped to the internal ones. */
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
  description: 'The outcome of one reading of an `ingest`.',
  valuesConfig: {
    STORED: { description: 'Stored by this call. The device may drop it.' },
    DUPLICATE: { description: 'Stored before, with the same content. The device may drop it.' },
    CONFLICT: {
      description:
        'This device has sent other content under this batch id, and that stays stored. Send the reading under ' +
        'another id, or drop it.',
    },
    REJECTED: { description: 'Not valid, so a retry is useless; `error` says why. The device may drop it.' },
    RETRY: { description: 'Not stored, because the database was unavailable. Send the same reading again.' },
  },
});

const value = (metric: Metric) => ({
  nullable: true,
  simple: true,
  description: `${metrics[metric].label}. Null if not measured.`,
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
  description: `Health of the ${sensor} sensor. Null if not reported.`,
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

@ObjectType('SeriesPoint', { description: 'One step of a series. `min`, `max` and `mean` are null if `count` is 0.' })
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

@ObjectType('Reading', { implements: Node, description: 'The values that a device measured at one time.' })
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

  @Field(() => Uuid, { simple: true, description: 'The id of the boot of the device during which it measured.' })
  readonly bootId!: string;

  @Field(() => String, { simple: true, description: 'The firmware version of the device when it measured.' })
  readonly firmwareVersion!: string;

  @Field(() => String, {
    nullable: true,
    simple: true,
    description: 'The name that was sent with the reading, else the name of the device when it arrived.',
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
    description:
      'Required. 1–256 characters of A-Z a-z 0-9 _ . : -, unique per device. A retry with the same id is a DUPLICATE.',
  })
  readonly batchId?: string | null;

  @Field(() => Float, {
    nullable: true,
    description:
      'Required. Time of measurement as a whole number of epoch milliseconds, from the year 2000 to 2099 and at most ' +
      '10 minutes ahead of the server.',
  })
  readonly timestampMs?: number | null;

  @Field(() => String, { nullable: true, description: 'Required. The id of the current boot, a UUID of version 4.' })
  readonly bootId?: string | null;

  @Field(() => String, { nullable: true, description: 'Required. 1–64 printable ASCII characters.' })
  readonly firmwareVersion?: string | null;

  @Field(() => String, {
    nullable: true,
    description: '1–64 printable ASCII characters. Omit it or send null to use the current name of the device.',
  })
  readonly friendlyName?: string | null;

  @Field(() => Json, {
    nullable: true,
    description:
      'Required. An object that maps sensors to numbers, such as { bme280TempC: 21.5 }. Omit sensors without value. ' +
      `Sensors: ${metricNames.join(', ')}.`,
  })
  readonly sensors?: unknown;

  @Field(() => Json, {
    nullable: true,
    description:
      'Required. An object that maps the sensors bme280, ds18b20, soilMoisture to OK or ERROR (or ok, error). May be ' +
      '{}.',
  })
  readonly sensorStatus?: unknown;
}

@InputType({ description: 'Readings of one or more devices to store.' })
export class IngestInput {
  @Field(() => [ReadingInput], { nullable: 'items', description: '1–100 readings. Each gets its own verdict.' })
  readonly readings!: (ReadingInput | null)[];
}

@ObjectType('ReadingVerdict', { description: 'The outcome of one reading.' })
export class ReadingVerdictType {
  @Field(() => Int, { simple: true, description: 'The position of the reading in the input, from 0.' })
  readonly index!: number;

  @Field(() => String, { simple: true, description: 'The batch id as it was sent. Empty if none was sent.' })
  readonly batchId!: string;

  @Field(() => ReadingVerdictKindType, { simple: true, description: 'The outcome.' })
  readonly kind!: VerdictKind;

  @Field(() => ItemErrorType, {
    nullable: true,
    simple: true,
    description: 'The reason. Null if the reading is STORED or a DUPLICATE.',
  })
  readonly error?: ItemErrorType;
}

@ObjectType({ description: 'The result of `ingest`.' })
export class IngestPayload {
  @Field(() => [String], {
    simple: true,
    description:
      'Batch ids whose readings are stored, by this call or before. The device may drop these readings. An id that ' +
      'several devices of the call use is listed only if it is stored for each of them.',
  })
  readonly settledBatchIds!: string[];

  @Field(() => [ReadingVerdictType], {
    simple: true,
    description: 'One verdict per reading, in the order of the input.',
  })
  readonly verdicts!: ReadingVerdictType[];
}
