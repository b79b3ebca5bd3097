const { default: Sequencer } = require('@jest/test-sequencer');

/**
 * The longest, which mostly wait, first: begun last, one of them would keep a whole run waiting. Not the two with a mixed load at
 * once. All others as jest has them.
 */
const longest = [
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

module.exports = class LongestFirst extends Sequencer {
  sort(tests) {
    const rank = ({ path }) => {
      const at = longest.findIndex((name) => path.includes(name));
      return at < 0 ? longest.length : at;
    };
    return [...super.sort(tests)].sort((a, b) => rank(a) - rank(b));
  }
};
