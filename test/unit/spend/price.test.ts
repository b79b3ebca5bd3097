import { type CatalogModel, priceInForce } from '../../../src/spend/price.js';

describe('priceInForce', () => {
  const model: CatalogModel = {
    label: 'premium',
    bedrockModelId: 'm',
    inputUsdMicrosPer1M: 3_000_000,
    outputUsdMicrosPer1M: 15_000_000,
  };

  it('is the fetched price of the day if there is one, with its source', () => {
    const fetched = { inputUsdMicrosPer1M: 0, outputUsdMicrosPer1M: 1, fetchedAt: new Date(0) };
    expect(priceInForce(model, fetched)).toEqual({ ...fetched, source: 'PRICING_CACHE' });
  });

  it('is the configured price otherwise', () => {
    expect(priceInForce(model, undefined)).toEqual({
      inputUsdMicrosPer1M: 3_000_000,
      outputUsdMicrosPer1M: 15_000_000,
      source: 'CONFIG_DEFAULT',
    });
  });
});
