import { createSocket } from 'node:dgram'
import { Resolver } from 'node:dns/promises'
import type { Resolve } from '../../service/outbound/model.ts'

export interface Nameserver {
  /** Queries this server and no other. */
  readonly resolve: Resolve
  /** Names that were asked for, in order. */
  readonly lookups: () => readonly string[]
  close(): Promise<void>
}

/** A DNS server on loopback whose answers expire at once: each query for a name gets its next address. */
export async function nameserver(zones: Readonly<Record<string, readonly string[]>>): Promise<Nameserver> {
  const lookups: string[] = []
  const socket = createSocket('udp4')
  socket.on('message', (query, from) => {
    const { name, end } = question(query)
    const turn = lookups.filter((other) => other === name).length
    lookups.push(name)
    const answers = zones[name]
    socket.send(reply(query, end, answers?.[Math.min(turn, answers.length - 1)]), from.port, from.address)
  })
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve))
  const resolver = new Resolver({ timeout: 1000, tries: 1 })
  resolver.setServers([`127.0.0.1:${String(socket.address().port)}`])
  return {
    resolve: (hostname) => resolver.resolve4(hostname),
    lookups: () => lookups,
    close: () => new Promise((resolve) => socket.close(resolve)),
  }
}

function question(query: Buffer): { name: string; end: number } {
  const labels: string[] = []
  let at = 12
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length))
    at += 1 + length
  }
  return { name: labels.join('.').toLowerCase(), end: at + 5 }
}

/** One A record with a time to live of 0, or "no such name". */
function reply(query: Buffer, end: number, address: string | undefined): Buffer {
  const header = Buffer.from(query.subarray(0, 12))
  header.writeUInt16BE(address === undefined ? 0x8183 : 0x8180, 2)
  header.writeUInt16BE(1, 4)
  header.writeUInt16BE(address === undefined ? 0 : 1, 6)
  header.writeUInt32BE(0, 8)
  const question = query.subarray(12, end)
  if (address === undefined) return Buffer.concat([header, question])
  const record = Buffer.from([0xc0, 0x0c, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4, ...address.split('.').map(Number)])
  return Buffer.concat([header, question, record])
}
