import type { Request } from 'express'
import { DomainError } from '../kit/errors.ts'

/**
 * A proxy on this machine would make every caller look local, so what says that it was passed on is refused. The
 * host's name must be this machine's too, or a page of another site could read by a name of its own that leads here.
 */
export function assertLocal(request: Request): void {
  const passedOn = PASSED_ON.some((name) => request.headers[name] !== undefined)
  const isLocal = LOCAL_ADDRESS.test(request.socket.remoteAddress ?? '') && LOCAL_HOST.test(request.headers.host ?? '')
  if (passedOn || !isLocal) throw new DomainError('missing', 'not_found', 'Not found.')
}

/** Whether an address of ours is reached from this machine alone. */
export function isLocalAddress(address: string): boolean {
  return LOCAL_HOST.test(new URL(address).host)
}

const PASSED_ON = ['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'x-real-ip', 'via']
const LOCAL_ADDRESS = /^(?:127\.\d{1,3}\.\d{1,3}\.\d{1,3}|::1|::ffff:127\.\d{1,3}\.\d{1,3}\.\d{1,3})$/
const LOCAL_HOST = /^(?:localhost|127\.0\.0\.1|\[::1\])(?::\d{1,5})?$/
