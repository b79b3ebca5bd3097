// Preloaded into a process whose clock must be wrong. A message with `skewMs` moves the clock.
const realNow = Date.now;
let skewMs = Number(process.env.SKEW_MS);
Date.now = () => realNow() + skewMs;
process.on('message', (message) => {
  skewMs = message.skewMs;
});
// The process ends as if there were no channel.
process.channel?.unref();
