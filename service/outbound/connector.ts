import type { Socket } from 'node:net'
import { buildConnector } from 'undici'
import { literalRefusal, permitsPrivate, refusal } from './addresses.ts'
import { addressRefused } from './errors.ts'
import { guardedLookup } from './lookup.ts'
import type { Policy, Resolve } from './model.ts'

/** undici's connector with the address check. Every socket of this client is opened here. */
export function guardedConnector(
  policy: Policy,
  resolve: Resolve,
  connectMs: number,
  authorities: string | undefined,
): buildConnector.connector {
  const strict = connectorFor(false)
  const lenient = connectorFor(true)
  return (options, callback) => {
    const privateAllowed = permitsPrivate(policy, options)
    // Node connects to a literal address without a lookup, so it is checked separately.
    const reason = literalRefusal(options.hostname, privateAllowed)
    if (reason !== null) {
      callback(addressRefused(options.hostname, reason), null)
      return
    }
    const connect = privateAllowed ? lenient : strict
    connect(options, (...[error, socket]: Parameters<buildConnector.Callback>) => {
      const fault = error ?? strayed(socket, options.hostname, privateAllowed)
      if (fault !== null) {
        socket?.destroy()
        callback(fault, null)
      } else if (socket !== null) callback(null, socket)
    })
  }

  function connectorFor(privateAllowed: boolean): buildConnector.connector {
    return buildConnector({
      timeout: connectMs,
      allowH2: false,
      lookup: guardedLookup(resolve, privateAllowed),
      ...(authorities === undefined ? {} : { ca: authorities }),
    })
  }
}

/** The last check: if Node or undici ever connects without the lookup, the socket's own address shows it. */
function strayed(socket: Socket, hostname: string, privateAllowed: boolean): Error | null {
  const address = socket.remoteAddress
  if (address === undefined) return new Error('the server closed the connection at once')
  const reason = refusal(address, privateAllowed)
  return reason === null ? null : addressRefused(hostname, 'it is not at a public address', new Error(reason))
}
