import type { IncomingMessage, ServerResponse } from 'node:http';
import { HttpRefusal } from './request.js';

/** Handles the requests of one path. */
export type Route = (request: IncomingMessage, response: ServerResponse) => void | Promise<void>;

/** Throws 405 unless the request only reads. */
export function requireGet({ method }: IncomingMessage): void {
  if (method !== 'GET' && method !== 'HEAD') throw new HttpRefusal(405, 'use GET', { allow: 'GET, HEAD' });
}

/** Throws 405 for every method but POST. */
export function requirePost({ method }: IncomingMessage): void {
  if (method !== 'POST') throw new HttpRefusal(405, 'use POST', { allow: 'POST' });
}
