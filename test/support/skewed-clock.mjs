// Loaded before a program whose clock is to be wrong.
const truth = Date.now;
const skewMs = Number(process.env.SKEW_MS);
Date.now = () => truth() + skewMs;
