const { default: Sequencer } = require('@jest/test-sequencer');

/** The longest, which mostly wait, longest first: begun last, one of them would keep a whole run waiting. All others as jest has them. */
const longest = [
  'faults/torture',
  'history/checker',
  'faults/devices.',
  'faults/spend',
  'worker/aggregation',
  'faults/limits.',
  'api/live',
  'api/abuse',
  'faults/kill',
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
