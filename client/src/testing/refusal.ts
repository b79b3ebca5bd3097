/** An error that the in-memory Tollgate responds with. */
export class Refusal extends Error {
  constructor(
    readonly code: string,
    message: string,
    readonly details: object = {},
  ) {
    super(message);
  }
}

export function refuse(code: string, message: string, details: object = {}): never {
  throw new Refusal(code, message, details);
}
