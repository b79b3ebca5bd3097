const { default: Sequencer } = require('@jest/test-sequencer');

/**
 * The slowest test files, which mostly wait, in the order in which they start. A slow file that starts last would delay
 * the whole run. The two files with a mixed load are apart, so that they do not run at the same time. All other files
 * follow in the order of jest.
 */
const slowest = [
  'faults/torture',
  'faults/devices.',
  'api/live',
  'faults/spend',
  'history/checker',
  'faults/limit-change',
  'api/limit-conservation',
  'worker/aggregation',
  'faults/limits.',
  'api/abuse',
  'worker/rounds',
  'api/logins',
  'faults/kill',
  'api/connections',
];

module.exports = class SlowestFirst extends Sequencer {
  sort(tests) {
    const rank = ({ path }) => {
      const at = slowest.findIndex((name) => path.includes(name));
      return at < 0 ? slowest.length : at;
    };
    return [...super.sort(tests)].sort((a, b) => rank(a) - rank(b));
  }
};
