import type { TestApp } from './app.js';

/** Waits until a gateway has read the change counter three times, and so has loaded every earlier change. */
export async function caughtUp({ gateway: { services } }: TestApp): Promise<void> {
  await new Promise<void>((resolve) => {
    let ticks = 0;
    const end = services.changeFeed.onTick(() => {
      if (++ticks < 3) return;
      end();
      resolve();
    });
  });
  await services.catalogSync.stop();
}
