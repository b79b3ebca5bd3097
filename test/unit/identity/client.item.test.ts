import { credentialsOf, newClientAttributes } from '../../../src/identity/client.item.js';

describe('the credentials of a client', () => {
  it('are read from an item as they were stored', () => {
    expect(credentialsOf(newClientAttributes('c'))).toEqual({
      clientId: 'c',
      role: 'FULL',
      rotation: 1,
      generation: 0,
    });
    expect(
      credentialsOf({
        client_id: 'c',
        client_rotation: 3,
        client_generation: 2,
        client_role: 'READ',
        client_secret_hash: 'h',
        client_secret_check: 'hc',
        client_secret_rotation: 3,
        client_secret_previous_hash: 'p',
        client_secret_previous_check: 'pc',
        client_secret_previous_rotation: 1,
        client_secret_created_at_epoch: 0,
        client_secret_rotation_grace_expires_at_epoch: 60,
      }),
    ).toEqual({
      clientId: 'c',
      role: 'READ',
      rotation: 3,
      generation: 2,
      current: { hash: 'h', check: 'hc', rotation: 3 },
      previous: { hash: 'p', check: 'pc', rotation: 1 },
      secretCreatedAt: new Date(0),
      graceExpiresAt: new Date(60_000),
    });
  });
});
