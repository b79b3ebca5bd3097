// Preloaded into a process whose clock must be wrong.
const realNow = Date.now;
const skewMs = Number(process.env.SKEW_MS);
Date.now = () => realNow() + skewMs;
