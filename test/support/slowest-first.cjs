const { default: Sequencer } = require('@jest/test-sequencer');

/**
 * The slowest test files, which mostly wait, in the order in which they start. A slow file that starts last would delay
 * the whole run. The two files with a mixed load are apart, so that they do not run at the same time. All other files
 * follow in the order of jest.
 */
const slowest = [
  'faults/limit-change',
  'faults/torture',
  'faults/devices.',
  'history/checker',
  'faults/limits-bound',
  'faults/spend',
  'worker/rounds',
  'api/limit-conservation',
  'worker/aggregation',
  'api/level-changes',
  'api/tenants-apart',
  'faults/limits.',
  'faults/kill',
  'api/abuse-sockets',
  'api/live',
  'api/alerts',
  'clients/graphql-ws',
  'api/connections',
  'faults/identity',
  'faults/outage',
  'faults/devices-kill',
  'faults/limits-kill',
  'api/shards',
  'api/limit-usage',
  'faults/store',
  'clients/browser',
  'clients/console',
  'api/embedded',
  'api/commands',
  'faults/many-processes',
  'api/cheap-refusals',
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
