/**
 * The factor by which tests extend their timeouts, so that no test fails because the machine is busy. It costs nothing
 * on a quiet machine. Speed is measured by `npm run bench`, not by tests.
 */
export const patience = 10;
