import { randomBytes, randomInt } from 'node:crypto'
import type { Identity } from '../../identity/service/identity.ts'
import { accountOf, type Caller } from '../../kit/caller.ts'
import type { Clock } from '../../kit/clock.ts'
import { newId } from '../../kit/ids.ts'
import { clientRefused } from '../errors.ts'
import type { Device, DeviceStore } from '../model.ts'
import { COMMAND_LINE, DEVICE_MS, INTERVAL_SECONDS, pollOf, USER_CODE_LETTERS } from '../rules/devices.ts'
import { hashOf } from '../rules/grants.ts'

/**
 * Command lines that get a key of an account (RFC 8628): a signed-in person enters the short code that the command line
 * shows. The key exists only once the command line asks for it, and its secret is only in that answer.
 */
export function createDevices({ store, identity, clock }: DevicesDeps) {
  return {
    async begin(clientId: string, name: string): Promise<{ deviceCode: string; userCode: string }> {
      assertClient(clientId)
      const deviceCode = randomBytes(32).toString('base64url')
      const userCode = Array.from({ length: 8 }, () => USER_CODE_LETTERS[randomInt(USER_CODE_LETTERS.length)]).join('')
      const expiresAt = new Date(clock.now().getTime() + DEVICE_MS)
      const device = { userCode, name, intervalSeconds: INTERVAL_SECONDS, expiresAt }
      await store.add(device, hashOf(deviceCode))
      return { deviceCode, userCode }
    },

    /** The device that waits under this code. Null when it has expired, was decided, or never was. */
    waiting: (userCode: string): Promise<Device | null> => store.waiting(userCode, clock.now()),

    /** False when there is nothing left to decide. `owner` null: refused. */
    async decide(userCode: string, owner: Caller | null): Promise<boolean> {
      return await store.decide(userCode, owner === null ? null : accountOf(owner), clock.now())
    },

    /** The secret of a new key, once. Throws while the code was not entered, and when it cannot be any more. */
    async redeem(deviceCode: string, clientId: string): Promise<string> {
      assertClient(clientId)
      const now = clock.now()
      const device = await store.poll(hashOf(deviceCode), now, (found) => pollOf(found, now))
      // After the code is used up: of two questions at once only one gets here.
      const wanted = { name: device.name, agentId: null, expiresAt: null }
      const { secret } = await identity.keys.createOf(device.owner, wanted, newId('op', now))
      return secret
    },
  }
}

export type Devices = ReturnType<typeof createDevices>

interface DevicesDeps {
  store: DeviceStore
  identity: { keys: Pick<Identity['keys'], 'createOf'> }
  clock: Clock
}

function assertClient(clientId: string): void {
  if (clientId !== COMMAND_LINE)
    throw clientRefused(`Device codes are for ${COMMAND_LINE} only: connect by /authorize.`)
}
