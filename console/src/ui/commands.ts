import { commandsFor } from '../lib/commands.js';

/** The commands for the gateway that serves this page. */
export const commands = commandsFor(location.origin);
