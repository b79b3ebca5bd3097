export const metrics = {
  BME280_TEMP_C: { field: 'bme280TempC', name: 'Air temperature', sensor: 'BME280', unit: '°C', decimals: 1 },
  DS18B20_TEMP_C: { field: 'ds18b20TempC', name: 'Probe temperature', sensor: 'DS18B20', unit: '°C', decimals: 1 },
  HUMIDITY_PCT: { field: 'humidityPct', name: 'Humidity', sensor: 'BME280', unit: '%', decimals: 0 },
  PRESSURE_HPA: { field: 'pressureHpa', name: 'Air pressure', sensor: 'BME280', unit: 'hPa', decimals: 0 },
  SOIL_MOISTURE_PCT: { field: 'soilMoisturePct', name: 'Soil moisture', sensor: 'soil', unit: '%', decimals: 0 },
} as const;

export type Metric = keyof typeof metrics;
export const metricNames = Object.keys(metrics) as Metric[];

export type SensorValues = Readonly<Record<(typeof metrics)[Metric]['field'], number | null>>;

/** `21.5 °C`; a dash if the sensor did not measure. */
export function valueText(metric: Metric, value: number | null | undefined): string {
  const { unit, decimals } = metrics[metric];
  return value === null || value === undefined ? '–' : `${value.toFixed(decimals)} ${unit}`;
}

/** The first metric that has a value. */
export const firstMetric = (sensors: SensorValues | undefined): Metric | undefined =>
  sensors && metricNames.find((metric) => sensors[metrics[metric].field] !== null);

/** Names for the values whose unit alone does not say what they are. */
const shortNames: Partial<Record<Metric, string>> = { HUMIDITY_PCT: 'air', SOIL_MOISTURE_PCT: 'soil' };

/** The values that were measured, one after the other: `21.5 °C · 45 % air · 38 % soil`. */
export function valuesText(sensors: SensorValues): string {
  const shown = metricNames.filter((metric) => sensors[metrics[metric].field] !== null);
  const texts = shown.map((metric) =>
    [valueText(metric, sensors[metrics[metric].field]), shortNames[metric]].filter(Boolean).join(' '),
  );
  return texts.join(' · ') || 'no values';
}

const niceSteps = [10, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200, 86_400];

/**
 * The length of the steps of a chart: the usual one of its range, or longer if the device measures less often, because
 * a step without a reading is a gap.
 */
export function stepSecs(usualSecs: number, timesMs: readonly number[]): number {
  const sorted = [...timesMs].sort((a, b) => a - b);
  const gaps = sorted.slice(1).map((time, i) => (time - (sorted[i] ?? time)) / 1000);
  const median = gaps.sort((a, b) => a - b)[Math.floor(gaps.length / 2)] ?? 0;
  return niceSteps.find((step) => step >= Math.max(usualSecs, median * 1.5)) ?? 86_400;
}
