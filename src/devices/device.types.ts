import { Field, Float, InputType, Int, ObjectType, registerEnumType } from 'type-graphql';
import { connectionType } from '../graphql/connection.js';
import { Node } from '../graphql/node.js';
import { DateTime, SafeInt, Uuid } from '../graphql/scalars.js';
import { enumOf } from '../lib/enum.js';
import { ItemErrorType } from '../spend/spend.types.js';
import { type Health, healths, type Metric, metricNames, metrics, type Verdict } from './reading.js';

/** The contract's names of the metrics, for ours. */
export const SensorMetricType = Object.fromEntries(metricNames.map((metric) => [metrics[metric].enumName, metric])) as Record<string, Metric>;
registerEnumType(SensorMetricType, { name: 'SensorMetric' });

export const SensorHealthType = enumOf<Health>(healths);
registerEnumType(SensorHealthType, { name: 'SensorHealth' });

export type VerdictKind = Verdict['kind'];
export const ReadingVerdictKindType = enumOf<VerdictKind>(['STORED', 'DUPLICATE', 'CONFLICT', 'REJECTED', 'RETRY']);
registerEnumType(ReadingVerdictKindType, {
  name: 'ReadingVerdictKind',
  valuesConfig: {
    CONFLICT: { description: 'The id is taken by a reading with other content.' },
    RETRY: { description: 'Not stored now through no fault of its own: send it again.' },
  },
});

@ObjectType('DeviceFeature')
export class DeviceFeatureType {
  @Field(() => String, { simple: true })
  readonly name!: string;

  @Field(() => Boolean, { simple: true })
  readonly enabled!: boolean;
}

@InputType()
export class DeviceFeatureInput {
  @Field(() => String)
  readonly name!: string;

  @Field(() => Boolean)
  readonly enabled!: boolean;
}

@ObjectType('DeviceCapabilities')
export class DeviceCapabilitiesType {
  @Field(() => [String], { simple: true })
  readonly sensors!: string[];

  @Field(() => [DeviceFeatureType], { simple: true })
  readonly features!: DeviceFeatureType[];
}

@InputType()
export class DeviceCapabilitiesInput {
  @Field(() => [String])
  readonly sensors!: string[];

  @Field(() => [DeviceFeatureInput], { defaultValue: [] })
  readonly features!: DeviceFeatureInput[];
}

@ObjectType('Sensors')
export class SensorsType {
  @Field(() => Float, { nullable: true, simple: true })
  readonly bme280TempC?: number;

  @Field(() => Float, { nullable: true, simple: true })
  readonly ds18b20TempC?: number;

  @Field(() => Float, { nullable: true, simple: true })
  readonly humidityPct?: number;

  @Field(() => Float, { nullable: true, simple: true })
  readonly pressureHpa?: number;

  @Field(() => Float, { nullable: true, simple: true })
  readonly soilMoisturePct?: number;
}

@InputType()
export class SensorsInput {
  @Field(() => Float, { nullable: true })
  readonly bme280TempC?: number | null;

  @Field(() => Float, { nullable: true })
  readonly ds18b20TempC?: number | null;

  @Field(() => Float, { nullable: true })
  readonly humidityPct?: number | null;

  @Field(() => Float, { nullable: true })
  readonly pressureHpa?: number | null;

  @Field(() => Float, { nullable: true })
  readonly soilMoisturePct?: number | null;
}

@ObjectType('SensorStatus')
export class SensorStatusType {
  @Field(() => SensorHealthType, { nullable: true, simple: true })
  readonly bme280?: Health;

  @Field(() => SensorHealthType, { nullable: true, simple: true })
  readonly ds18b20?: Health;

  @Field(() => SensorHealthType, { nullable: true, simple: true })
  readonly soilMoisture?: Health;
}

@InputType()
export class SensorStatusInput {
  @Field(() => SensorHealthType, { nullable: true })
  readonly bme280?: Health | null;

  @Field(() => SensorHealthType, { nullable: true })
  readonly ds18b20?: Health | null;

  @Field(() => SensorHealthType, { nullable: true })
  readonly soilMoisture?: Health | null;
}

@ObjectType('Device', { implements: Node, description: 'One of the fleet.' })
export class DeviceType extends Node {
  @Field(() => String, { simple: true })
  readonly hardwareId!: string;

  @Field(() => Uuid, { simple: true })
  readonly confirmationId!: string;

  @Field(() => String, { nullable: true, simple: true })
  readonly friendlyName?: string;

  @Field(() => String, { simple: true })
  readonly firmwareVersion!: string;

  @Field(() => DeviceCapabilitiesType, { simple: true })
  readonly capabilities!: DeviceCapabilitiesType;

  @Field(() => DateTime, { simple: true })
  readonly firstRegisteredAt!: Date;

  @Field(() => DateTime, { simple: true, description: 'To within a minute.' })
  readonly lastSeenAt!: Date;

  @Field(() => Uuid, { simple: true })
  readonly lastBootId!: string;
}

export const DeviceConnection = connectionType('Device', () => DeviceType);

@ObjectType('SeriesPoint')
export class SeriesPointType {
  @Field(() => DateTime, { simple: true })
  readonly at!: Date;

  @Field(() => Int, { simple: true })
  readonly count!: number;

  @Field(() => Float, { nullable: true, simple: true })
  readonly min!: number | null;

  @Field(() => Float, { nullable: true, simple: true })
  readonly max!: number | null;

  @Field(() => Float, { nullable: true, simple: true })
  readonly mean!: number | null;
}

@ObjectType('Reading', { implements: Node, description: 'What a device measured at one moment.' })
export class ReadingType extends Node {
  @Field(() => String, { simple: true })
  readonly hardwareId!: string;

  @Field(() => String, { simple: true })
  readonly batchId!: string;

  @Field(() => SafeInt, { simple: true })
  readonly timestampMs!: number;

  @Field(() => Uuid, { simple: true })
  readonly bootId!: string;

  @Field(() => String, { simple: true })
  readonly firmwareVersion!: string;

  @Field(() => String, { nullable: true, simple: true, description: 'The name the device had when this arrived.' })
  readonly friendlyName?: string;

  @Field(() => SensorsType, { simple: true })
  readonly sensors!: SensorsType;

  @Field(() => SensorStatusType, { simple: true })
  readonly sensorStatus!: SensorStatusType;
}

export const ReadingConnection = connectionType('Reading', () => ReadingType);

@InputType()
export class RegisterDeviceInput {
  @Field(() => String, { description: 'XX:XX:XX:XX:XX:XX, upper case.' })
  readonly hardwareId!: string;

  @Field(() => Uuid)
  readonly bootId!: string;

  @Field(() => String)
  readonly firmwareVersion!: string;

  @Field(() => String, { nullable: true, description: 'Absent: as it is.' })
  readonly friendlyName?: string | null;

  @Field(() => DeviceCapabilitiesInput)
  readonly capabilities!: DeviceCapabilitiesInput;
}

@ObjectType()
export class RegisterDevicePayload {
  @Field(() => DeviceType, { simple: true })
  readonly device!: DeviceType;

  @Field(() => Boolean, { simple: true, description: 'False when it was known: it keeps its confirmation id.' })
  readonly created!: boolean;
}

@InputType()
export class ReadingInput {
  @Field(() => String)
  readonly hardwareId!: string;

  @Field(() => String)
  readonly batchId!: string;

  @Field(() => Float, { description: 'Epoch milliseconds; what is no whole number is REJECTED, not an error of the call.' })
  readonly timestampMs!: number;

  @Field(() => String)
  readonly bootId!: string;

  @Field(() => String)
  readonly firmwareVersion!: string;

  @Field(() => String, { nullable: true, description: "Absent: the device's own." })
  readonly friendlyName?: string | null;

  @Field(() => SensorsInput)
  readonly sensors!: SensorsInput;

  @Field(() => SensorStatusInput)
  readonly sensorStatus!: SensorStatusInput;
}

@InputType()
export class IngestInput {
  @Field(() => [ReadingInput], { description: '1 to 100; each gets its own verdict.' })
  readonly readings!: ReadingInput[];
}

@ObjectType('ReadingVerdict')
export class ReadingVerdictType {
  @Field(() => Int, { simple: true })
  readonly index!: number;

  @Field(() => String, { simple: true })
  readonly batchId!: string;

  @Field(() => ReadingVerdictKindType, { simple: true })
  readonly kind!: VerdictKind;

  @Field(() => ItemErrorType, { nullable: true, simple: true })
  readonly error?: ItemErrorType;
}

@ObjectType()
export class IngestPayload {
  @Field(() => [String], { simple: true, description: 'What the device may forget: stored or there already.' })
  readonly settledBatchIds!: string[];

  @Field(() => [ReadingVerdictType], { simple: true })
  readonly verdicts!: ReadingVerdictType[];
}
