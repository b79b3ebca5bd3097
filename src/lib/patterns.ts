/** Model labels and app ids. They are part of keys, so they contain no separator. */
export const slug = /^[a-z0-9][a-z0-9._-]{0,63}$/;

/** A UUID in lower case. */
export const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** A MAC address in upper case, as devices report it. */
export const hardwareIdPattern = /^[0-9A-F]{2}(:[0-9A-F]{2}){5}$/;
