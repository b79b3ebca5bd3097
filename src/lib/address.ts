import { isIP } from 'node:net';

/**
 * The IP address in `text` without port, brackets and zone. IPv4 mapped into IPv6 becomes IPv4. Undefined if there is
 * none.
 */
export function parseAddress(text: string): string | undefined {
  if (text.length > 100) return undefined;
  const end = text.indexOf(']');
  if (text.startsWith('[') && end < 0) return undefined;
  const bracketed = text.startsWith('[') ? text.slice(1, end) : text;
  const plain = bracketed.split('%')[0] as string;
  // `1.2.3.4:5678` has one colon; an IPv6 address has at least two.
  const withoutPort = plain.includes('.') && plain.split(':').length === 2 ? (plain.split(':')[0] as string) : plain;
  const version = isIP(withoutPort);
  if (version === 0) return undefined;
  return version === 4 ? withoutPort : (mappedIpv4(withoutPort) ?? groupsOf(withoutPort).join(':'));
}

/** The key of bounds per address. An IPv6 caller usually owns a /64, so all its addresses count as one. */
export function addressBucket(address: string): string {
  return isIP(address) === 6 ? `${groupsOf(address).slice(0, 4).join(':')}::/64` : address;
}

function mappedIpv4(address: string): string | undefined {
  const groups = groupsOf(address);
  if (groups.slice(0, 5).some((group) => group !== '0') || groups[5] !== 'ffff') return undefined;
  const bytes = groups.slice(6).flatMap((group) => [Number.parseInt(group, 16) >> 8, Number.parseInt(group, 16) & 255]);
  return bytes.join('.');
}

/** The eight groups of a valid IPv6 address, in lower case without leading zeros. */
function groupsOf(address: string): string[] {
  const tail = address.slice(address.lastIndexOf(':') + 1);
  const [a = 0, b = 0, c = 0, d = 0] = tail.split('.').map(Number);
  const hex = tail.includes('.')
    ? `${address.slice(0, -tail.length)}${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`
    : address;
  const [left = '', right] = hex.toLowerCase().split('::');
  const groups = (text: string | undefined) => (text ? text.split(':') : []);
  const missing = 8 - groups(left).length - groups(right).length;
  const all =
    right === undefined ? groups(left) : [...groups(left), ...Array<string>(missing).fill('0'), ...groups(right)];
  return all.map((group) => Number.parseInt(group, 16).toString(16));
}
